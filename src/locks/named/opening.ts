import { performance } from '../../core/clock.ts'
import { deadlineIn, type Deadline } from '../../core/deadline.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { Mutable } from '../../core/mutable.ts'
import type { Plan, SettingChange } from '../../core/plan.ts'
import type { Receipt } from '../../core/receipt.ts'
import type { Isolation } from '../../core/request.ts'
import type { Session } from '../../core/session.ts'
import { isSql, type SqlStatement, type Statement } from '../../core/statement.ts'
import type { Dialect } from '../../dialects/dialect.ts'
import { askAgain, type LockStory } from '../../events/lock-story.ts'
import { LockContention } from '../contention.ts'
import { readFailure } from '../failure.ts'
import { tellGranted } from '../transaction/lock-stories.ts'
import type { DefaultIsolation } from './default-isolation.ts'
import type { CheckedLock } from './lock-options.ts'
import type { NamedKey } from './named-key.ts'
import type { Needs } from '../needs.ts'
import type { PlanKnown } from './plans.ts'
import type { OpenTransaction, Server } from '../port.ts'
import { receiptOf } from '../rows/rows.ts'
import { withSetting } from '../setting.ts'
import { sendLock, take } from '../take.ts'
import { planInTime, type LockTime } from './timed-plan.ts'

/** What named locks need to know and to have, the same for all of one `locks` object. */
export interface NamedLocking {
  readonly planFor: PlanKnown
  readonly needs: Needs
  /** Refuses a server on which locks that belong to a connection are worthless. */
  readonly probe: (session: Session) => Promise<void>
  /** The level of a transaction that asks for none. */
  readonly defaultIsolation: DefaultIsolation
}

/** The named locks that a transaction takes as it begins. */
export interface Opening {
  readonly locking: NamedLocking
  readonly names: readonly NamedKey[]
  readonly lock: CheckedLock
  /** Until when this attempt may wait for them; the wait for a turn has used up some of the first one's time. */
  deadline: Deadline
  /** What the wait for a turn has used up of `lockTimeoutMs`, in the first attempt. */
  turnMs: number
  /** Told at the start of each attempt, and once all of them are held. */
  readonly onChange: (isGranted: boolean) => void
  /** What those are told who listen to locks: one for each name. Undefined where nobody does. */
  readonly stories: readonly LockStory[] | undefined
}

/** The locks of an opening on one server. */
export interface PlannedOpening {
  readonly opening: Opening
  readonly plans: readonly Plan[]
  /** What travels with BEGIN: all of the locks, or nothing. */
  readonly head: readonly SqlStatement[]
}

/** Until when a lock that is asked for now may be waited for. */
export function waitDeadline({ wait }: CheckedLock): Deadline {
  return deadlineIn(typeof wait === 'object' ? wait.timeoutMs : undefined)
}

export const theLock = 'the lock'

/** Plans the locks and takes those that have to be there before the transaction begins: at once, where there are none. */
export function takeBeforeBegin(
  open: OpenTransaction<unknown>,
  opening: Opening,
): PlannedOpening | Promise<PlannedOpening> {
  opening.onChange(false)
  for (const story of opening.stories ?? []) askAgain(story)
  const isolation = open.isolation ?? opening.locking.defaultIsolation(open, open.session)
  return isolation instanceof Promise
    ? isolation.then((level) => planOpening(open, opening, level))
    : planOpening(open, opening, isolation)
}

function planOpening(
  open: OpenTransaction<unknown>,
  opening: Opening,
  isolation: Isolation | undefined,
): PlannedOpening | Promise<PlannedOpening> {
  const { locking, lock } = opening
  const { mode, exact } = lock
  const planAll = (wait: CheckedLock['wait']): Plan[] =>
    opening.names.map(({ id, key }) => {
      const request = { key, mode, exact, wait }
      return locking.planFor(open, isolation === undefined ? request : { ...request, isolation }, id)
    })
  const plans = planInTime(open.dialect, timeOf(open, opening), planAll)
  checkAccess(plans, open)
  // what the lock was planned for is what the transaction has to be
  if (open.dialect.named.defaultIsolation?.goesWithBegin === true) open.isolation = isolation
  const planned = { opening, plans, head: headOf(open, plans) }
  return plans.some(comesFirst) ? takeFirst(open, planned) : planned
}

function timeOf(
  { lockTimeoutMs, leftMs }: OpenTransaction<unknown>,
  { lock: { wait }, deadline, turnMs }: Opening,
): LockTime {
  const ownMs = Math.max(1, Math.ceil(deadline.remainingMs()))
  return {
    wait: typeof wait === 'object' ? { timeoutMs: ownMs } : wait,
    lockTimeoutMs: lockTimeoutMs === undefined ? undefined : lockTimeoutMs - turnMs,
    leftMs,
    isShortened: turnMs > 0 && lockTimeoutMs !== undefined,
  }
}

function comesFirst(plan: Plan): boolean {
  return plan.beforeBegin.length > 0 || (plan.needs.length > 0 && !isWholeDatabase(plan))
}

async function takeFirst(open: OpenTransaction<unknown>, planned: PlannedOpening): Promise<PlannedOpening> {
  const { locking } = planned.opening
  for (const plan of planned.plans) {
    if (!isWholeDatabase(plan)) await locking.needs.make(plan.needs, open.session)
    if (plan.beforeBegin.length > 0) await takeForConnection(open, plan, locking)
  }
  return planned
}

/** Takes the locks that belong to the transaction, where they did not come with BEGIN, and notes what is held. */
export async function takeInside(
  open: OpenTransaction<unknown>,
  planned: PlannedOpening,
  began: number,
): Promise<void> {
  for (const plan of planned.plans) await takeForTransaction(open, plan, planned.opening.locking)
  noteHeld(open, planned, began)
}

/** Notes what is held: all of the locks, or, where BEGIN is still under way, as soon as it is answered. */
export function noteHeld(
  open: OpenTransaction<unknown>,
  { opening, plans }: PlannedOpening,
  began: number,
): undefined {
  const receipts: Mutable<Receipt>[] = plans.map((plan, index) => {
    const receipt = receiptOf(plan, opening.lock, { statements: sentFor(plan), waitedMs: 0 })
    open.named.set(opening.names[index]?.id ?? '', receipt)
    return receipt
  })
  const granted = (): void => {
    const waitedMs = performance.now() - began
    for (const receipt of receipts) receipt.waitedMs = waitedMs
    opening.onChange(true)
    if (opening.stories !== undefined) tellGranted(open, opening.stories)
  }
  if (open.begun === undefined) granted()
  else open.begun.then(granted, () => {}) // the work waits for its own first statement
}

export function sentFor({ beforeBegin, inTransaction }: Plan): readonly Statement[] {
  return beforeBegin.length === 0 ? inTransaction : [...beforeBegin, ...inTransaction]
}

/** Takes a lock that belongs to the connection, and sees to it that it is given back after the transaction. */
export async function takeForConnection(
  open: OpenTransaction<unknown>,
  plan: Plan,
  { probe }: NamedLocking,
): Promise<void> {
  await probe(open.session)
  try {
    await sendPlanned(open, plan, plan.beforeBegin)
  } catch (error) {
    await undoTake(open, plan, error)
    throw error
  }
  open.atEnd.push(...plan.afterEnd)
}

/** A lock that was refused may have been granted all the same, just as the time ran out. */
async function undoTake(open: OpenTransaction<unknown>, plan: Plan, error: unknown): Promise<void> {
  const { kind } = readFailure(error, open.dialect)
  if (kind === 'lock-not-available' || kind === 'deadlock') return
  if (kind !== 'lock-timeout') return open.doubt(error)
  for (const statement of plan.afterEnd) await open.session.run(statement).catch(open.doubt)
}

/** Takes a lock that ends with the transaction, inside of it. */
export async function takeForTransaction(
  open: OpenTransaction<unknown>,
  plan: Plan,
  { needs }: NamedLocking,
): Promise<void> {
  // the transaction is alone in the database: what is made here is there when the next one begins, or not at all
  if (isWholeDatabase(plan)) for (const statement of plan.needs) await open.session.run(statement)
  try {
    await sendPlanned(open, plan, plan.inTransaction)
  } catch (error) {
    if (error instanceof LockContention) needs.forget(plan.needs)
    throw error
  }
}

/**
 * Sends a lock's statements under the plan's setting, and waits as the plan says. Where there are none, the setting is
 * left alone: what a transaction has for itself would be taken for the session's old value.
 *
 * A lock that can have its setting in its own statement has it there: what the work sends meanwhile would come between
 * three of them, and run under the lock's setting, or change that of the transaction in vain.
 */
async function sendPlanned(
  { session, dialect, signal, limit, doubt }: OpenTransaction<unknown>,
  plan: Plan,
  statements: readonly Statement[],
): Promise<void> {
  if (statements.length === 0) return
  const { setting } = plan
  const one = setting && statements.every(isSql) ? joined(dialect, statements, setting) : undefined
  const send = (): Promise<unknown> => sendLock(session, one ?? statements, theLock)
  await withSetting(session, one === undefined ? setting : undefined, {
    doubt,
    signal,
    work: () => take(plan, { dialect, signal, limit, what: theLock }, send),
  })
}

export function isWholeDatabase({ begin }: Plan): boolean {
  return begin !== undefined
}

function checkAccess(plans: readonly Plan[], { access }: OpenTransaction<unknown>): void {
  const writes = plans.some((plan) => isWholeDatabase(plan) || plan.needs.length > 0)
  if (!writes || access === 'read-write') return
  throw new LockUsageError('access', 'a read-only transaction cannot take this lock on this database')
}

/** Of plans that are used again and again. */
const heads = new WeakMap<Plan, readonly SqlStatement[]>()

function headOf({ dialect }: Server, plans: readonly Plan[]): readonly SqlStatement[] {
  const [only, second] = plans
  if (only === undefined || second !== undefined) return headFor(dialect, plans)
  const known = heads.get(only)
  if (known !== undefined) return known
  const head = headFor(dialect, plans)
  heads.set(only, head)
  return head
}

/** The locks as statements without parameters, where every one of them can be had so, and none answers with a value. */
function headFor(dialect: Dialect, plans: readonly Plan[]): readonly SqlStatement[] {
  const { inHead } = dialect.named
  if (inHead === undefined) return []
  const statements = plans.flatMap(({ inTransaction }) => inTransaction)
  const texts = statements.map((statement) =>
    isSql(statement) && statement.answers === undefined ? inHead(statement) : undefined,
  )
  const setting = plans[0]?.setting
  if (texts.length === 0 || texts.includes(undefined) || setting?.read !== undefined) return []
  const head = texts.filter((text) => text !== undefined)
  if (setting === undefined) return head
  return joined(dialect, head, setting) ?? [setting.apply, ...head, setting.restore]
}

/** With the setting changed in the statement of the first lock, and put back in that of the last. */
function joined(
  { named: { withColumns } }: Dialect,
  locks: readonly SqlStatement[],
  { columns }: SettingChange,
): readonly SqlStatement[] | undefined {
  if (withColumns === undefined || columns === undefined) return undefined
  const all = locks.map((lock, index) =>
    withColumns(lock, {
      before: index === 0 ? columns.apply : undefined,
      behind: index === locks.length - 1 ? columns.restore : undefined,
    }),
  )
  return all.every((one) => one !== undefined) ? all : undefined
}
