import { performance } from '../../core/clock.ts'
import type { Mutable } from '../../core/mutable.ts'
import type { TransactionStart, WholeCourse } from '../../core/session.ts'
import type { Row, SqlStatement } from '../../core/statement.ts'
import type { LockTimeout } from '../../dialects/transaction.ts'
import { beginWaiting } from './begin.ts'
import type { Whole } from './job.ts'
import {
  noteHeld,
  takeBeforeBegin,
  takeInside,
  theLock,
  type Opening,
  type PlannedOpening,
} from '../named/opening.ts'
import type { TransactionOptions } from './options.ts'
import type { OpenTransaction } from '../port.ts'
import type { PreparedTables, TableOpening } from '../table/port.ts'
import { take } from '../take.ts'

/** How a transaction is to begin. */
export interface Start {
  readonly options: TransactionOptions
  readonly timeout: LockTimeout | undefined
  readonly opening: Opening | undefined
  readonly tables: TableOpening | undefined
  /** All that the transaction does, where that is known. */
  readonly whole: WholeStart | undefined
}

/** How a transaction is sent of which everything is known. */
export interface WholeStart extends Pick<Whole<unknown>, 'send'> {
  /** Waits no longer than a beginning may take. */
  readonly bound: <T>(step: Promise<T>) => Promise<T>
}

export interface Begun {
  /** Gives the rows of the last statement of the beginning. The work does not wait for it where it travels along. */
  readonly sent: Promise<readonly Row[]>
  /** Takes the locks that belong inside of the transaction, where they have not come with BEGIN. */
  readonly takeLocks: () => Promise<void> | undefined
  /** There where the transaction was sent as a whole. */
  readonly course?: WholeCourse
}

/** Takes the locks that come before the transaction, and begins it, with those that can travel along. */
export function beginLocked(open: OpenTransaction<unknown>, start: Start): Begun | Promise<Begun> {
  const began = performance.now()
  const taking = start.opening && takeBeforeBegin(open, start.opening)
  const isLate = taking instanceof Promise || start.tables !== undefined
  const go = (locks: PlannedOpening | undefined, tables?: PreparedTables): Begun => {
    const isRiding = rides(open, locks, tables)
    const sent = begin(open, start, { locks, tables, isRiding })
    if (isRiding) open.begun = sent
    // who waits for it later, or has been aborted meanwhile, has no handler there yet
    if (open.begun !== undefined || isLate) sent.catch(() => {})
    const takeNames = (): Promise<void> | undefined => takeRest(open, locks, began)
    return { sent, takeLocks: tables === undefined ? takeNames : () => takeBoth(takeNames, tables) }
  }
  if (start.tables !== undefined) return withTables(open, start, { names: taking, go })
  if (start.whole !== undefined)
    return tryWhole(open, start, { whole: start.whole, names: taking, go, began })
  return taking instanceof Promise ? taking.then(go) : go(taking)
}

interface WholeGoing extends Pick<Going, 'names' | 'go'> {
  readonly whole: WholeStart
  readonly began: number
}

/** Sends all of it at once, or begins as always where that cannot be done. */
async function tryWhole(
  open: OpenTransaction<unknown>,
  start: Start,
  { whole, names, go, began }: WholeGoing,
): Promise<Begun> {
  const locks = await (names instanceof Promise ? whole.bound(names) : names)
  // the number comes first: when the connection breaks while the lock is waited for, only that can tell what is stored
  const course = locks && (await whole.send(open, { start: startOf(open, start, {}), locks }))
  if (course === undefined) return go(locks, undefined)
  open.begun = course.locked.then(() => [])
  open.begun.catch(() => {})
  noteHeld(open, locks as PlannedOpening, began)
  return { sent: course.begun, takeLocks: () => undefined, course }
}

interface Going {
  readonly names: PlannedOpening | undefined | Promise<PlannedOpening>
  readonly go: (locks: PlannedOpening | undefined, tables: PreparedTables | undefined) => Begun
}

async function withTables(
  open: OpenTransaction<unknown>,
  { tables }: Start,
  { names, go }: Going,
): Promise<Begun> {
  const locks = await names
  return go(locks, await tables?.prepare(open))
}

async function takeBoth(names: () => Promise<void> | undefined, tables: PreparedTables): Promise<void> {
  await names()
  await tables.take()
}

function takeRest(
  open: OpenTransaction<unknown>,
  locks: PlannedOpening | undefined,
  began: number,
): Promise<void> | undefined {
  if (locks === undefined) return undefined
  return locks.head.length > 0 ? noteHeld(open, locks, began) : takeInside(open, locks, began)
}

/** A BEGIN by itself waits for nothing, so nothing is weaker for work that is called before it is answered. */
function rides(
  { session }: OpenTransaction<unknown>,
  locks: PlannedOpening | undefined,
  tables: PreparedTables | undefined,
): boolean {
  if (session.ride === undefined) return false
  return session.ridesWithLocks === true || (locks === undefined && tables === undefined)
}

interface Beginning {
  readonly locks?: PlannedOpening | undefined
  readonly tables?: PreparedTables | undefined
  readonly isRiding: boolean
}

function begin(
  open: OpenTransaction<unknown>,
  start: Start,
  { locks, tables, isRiding }: Beginning,
): Promise<readonly Row[]> {
  const { session, dialect, deadline, signal, limit, isInDoubt: isGivenUp } = open
  const started = startOf(open, start, { locks, tables })
  const ride = isRiding ? session.ride : undefined
  const waits = locks !== undefined || tables !== undefined
  const send = (): Promise<readonly Row[]> =>
    ride?.(started, { waits, isLimited: waits || start.options.budgetMs !== undefined }) ??
    (started.mode === undefined
      ? session.begin(started)
      : beginWaiting(session, started, { dialect, deadline, signal, isGivenUp }))
  const plan = locks?.plans[0]
  const lockAndSend =
    plan !== undefined && locks !== undefined && locks.head.length > 0
      ? () => take(plan, { dialect, signal, limit, what: theLock }, send)
      : send
  return tables === undefined ? lockAndSend() : tables.around(lockAndSend)
}

function startOf(
  { dialect, version, access, isolation, limit }: OpenTransaction<unknown>,
  { options, timeout }: Start,
  { locks: names, tables }: Omit<Beginning, 'isRiding'>,
): TransactionStart {
  const { writeMode, commitProbe, lowerLockTimeout } = dialect.transaction
  const { ms } = limit
  const lower =
    ms === undefined || timeout !== undefined || lowerLockTimeout === undefined
      ? asItIs
      : (one?: SqlStatement): SqlStatement => lowerLockTimeout(ms, one)
  const [first, ...others] = names?.head ?? []
  const locks = [...(first === undefined ? [] : [lower(first)]), ...others, ...(tables?.head ?? [])]
  const writes = access === 'read-write'
  const head: SqlStatement[] = []
  if (timeout !== undefined && 'head' in timeout) head.push(timeout.head)
  for (const lock of locks) head.push(lock)
  const probe = writes ? commitProbe?.(version) : undefined
  // behind the locks: a transaction that has its number holds up the server's cleaning
  const last = locks.at(-1)
  const both = last && probe?.inside?.(last)
  if (both !== undefined) head[head.length - 1] = both
  else {
    // a SELECT: it takes the snapshot of a transaction that has one, and so comes behind the locks on tables
    const isFirstRead = probe === undefined && isolation !== 'read committed'
    // one that only reads has its snapshot from its own first read, whatever time it has
    const ending = first === undefined && !isFirstRead ? lower(probe?.head) : probe?.head
    if (ending !== undefined) head.push(ending)
  }
  const start: Mutable<TransactionStart> = {}
  const mode = tables?.mode ?? writeMode
  if (tables?.by !== undefined) start.by = tables.by
  if (isolation !== undefined) start.isolation = isolation
  if (options.access !== undefined) start.access = access
  if (writes && mode !== undefined) start.mode = mode
  if (head.length > 0) start.head = head
  return start
}

function asItIs<S>(statement: S): S {
  return statement
}
