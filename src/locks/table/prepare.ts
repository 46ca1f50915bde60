import { performance } from '../../core/clock.ts'
import { LockUsageError, UnsupportedLockError } from '../../core/errors.ts'
import type { Mutable } from '../../core/mutable.ts'
import { restoreStatement, statementsAtOnce, type Plan } from '../../core/plan.ts'
import type { Receipt } from '../../core/receipt.ts'
import { isSql, type SqlStatement } from '../../core/statement.ts'
import { unsupported } from '../../core/support.ts'
import type { LockStory } from '../../events/lock-story.ts'
import type { OpenTransaction } from '../port.ts'
import { receiptOf } from '../rows/rows.ts'
import { mustSeeTheLast } from '../sees-the-last.ts'
import { withSetting } from '../setting.ts'
import { sendLock, take } from '../take.ts'
import { tellGranted } from '../transaction/lock-stories.ts'
import { idOfTable } from './held.ts'
import type { TableLock } from './options.ts'
import type { PlanTable, PreparedTables, TableOpening } from './port.ts'

interface Opening extends Pick<TableOpening, 'wait'> {
  readonly locks: readonly TableLock[]
  readonly planTable: PlanTable
  readonly stories: readonly LockStory[] | undefined
  readonly onGranted: () => void
}

interface Planned {
  readonly lock: TableLock
  readonly plan: Plan
}

const theTable = 'the table'

/** Plans the locks on tables that a transaction begins with. */
export async function prepareTables(
  open: OpenTransaction<unknown>,
  opening: Opening,
): Promise<PreparedTables> {
  const began = performance.now()
  await settleLevel(open, opening)
  const { isolation } = open
  const planned = opening.locks.map((lock): Planned => {
    const plan = opening.planTable(open, { ...lock, ...(isolation && { isolation }) })
    return { lock, plan }
  })
  checkAccess(open, planned)
  const inside = planned.filter(({ plan }) => plan.inTransaction.length > 0)
  const head = headOf(open, inside)
  // a lock that does not come with BEGIN may be what the transaction reads first
  const isRead = head.length === 0 || open.dialect.transaction.readsFirst === true
  if (inside.length > 0 && isRead) mustSeeTheLast(open.dialect, isolation, { category: 'table' })
  return {
    mode: wordOf(planned),
    by: await statementsInPlaceOfBegin(open, planned),
    head,
    around: (send) => sendBeginning(open, planned, send),
    take: async () => {
      if (head.length === 0) for (const { plan } of inside) await takeInside(open, plan)
      noteHeld(open, planned, { ...opening, began })
    },
  }
}

/** Where something depends on a level that nobody has stated: the way to limit the wait, or whether there is a way. */
async function settleLevel(open: OpenTransaction<unknown>, { wait }: Opening): Promise<void> {
  const { named, transaction } = open.dialect
  const how = named.defaultIsolation
  const isAsked = typeof wait === 'object' || transaction.readsFirst === true
  if (open.isolation !== undefined || !isAsked || how?.goesWithBegin !== true) return
  const [row] = await open.session.run(how.ask)
  open.isolation = how.read(row)
}

function checkAccess({ access }: OpenTransaction<unknown>, planned: readonly Planned[]): void {
  if (access === 'read-write' || planned.every(({ plan }) => !isBeginning(plan))) return
  throw new LockUsageError('access', 'a read-only transaction cannot lock tables on this database')
}

/** Whether the lock is the transaction's own beginning, so that none that is under way can take it. */
export function isBeginning({ begin, atOnce }: Plan): boolean {
  return begin !== undefined || atOnce !== undefined
}

/** The word of one that is not shared is at least as strong. */
function wordOf(planned: readonly Planned[]): string | undefined {
  const strongest = planned.find(({ lock }) => lock.mode !== 'shared') ?? planned[0]
  return strongest?.plan.begin
}

/** What it leaves on the connection is taken off again, also when the beginning fails halfway. */
async function statementsInPlaceOfBegin(
  open: OpenTransaction<unknown>,
  planned: readonly Planned[],
): Promise<readonly SqlStatement[] | undefined> {
  const { session, dialect, atEnd } = open
  const [first, ...others] = planned.map(({ plan }) => plan.atOnce).filter((part) => part !== undefined)
  if (first === undefined) return undefined
  if (session.beginsBy === undefined)
    throw new UnsupportedLockError(
      dialect.name,
      'table',
      unsupported(
        'BEGIN would give the lock up, and these sessions cannot begin a transaction in another way',
        "take an advisory lock on the table's name in every transaction that must not run at the same time",
      ),
    )
  await mustBeAlone(open)
  await session.beginsBy()
  open.isConfined = true
  atEnd.push(...(planned[0]?.plan.afterEnd ?? []).toReversed())
  return statementsAtOnce(first, others)
}

/** A table that is locked here can still be changed on another server. */
async function mustBeAlone({ session, dialect }: OpenTransaction<unknown>): Promise<void> {
  const { peers } = dialect
  const refusal = peers?.read(await session.run(peers.ask))
  if (refusal !== undefined) throw new UnsupportedLockError(dialect.name, 'table', refusal)
}

/** To change the setting for one wait reads the old value: that would be the transaction's first read, before the lock. */
function mustNotRead({ dialect, isolation }: OpenTransaction<unknown>): void {
  if (dialect.named.canJoin(isolation)) return
  throw new LockUsageError(
    'wait',
    `a transaction at ${isolation ?? 'this level'} would read before it has its tables: limit the wait by lockTimeoutMs`,
  )
}

/** All of the locks as statements that travel with BEGIN, or none of them. */
function headOf(open: OpenTransaction<unknown>, inside: readonly Planned[]): readonly SqlStatement[] {
  const { inHead } = open.dialect.named
  const [first] = inside
  if (inHead === undefined || first === undefined) return []
  const locks = inside
    .flatMap(({ plan }) => plan.inTransaction)
    .map((one) => (isSql(one) ? inHead(one) : undefined))
  if (locks.includes(undefined)) return []
  const texts = locks.filter((lock) => lock !== undefined)
  const { setting } = first.plan
  if (setting === undefined) return texts
  mustNotRead(open)
  return [setting.apply, ...texts, restoreStatement(setting, undefined)]
}

/** Where BEGIN takes the lock, who repeats it says when the time is over. */
function sendBeginning<T>(
  { session, dialect, doubt, signal, limit }: OpenTransaction<unknown>,
  planned: readonly Planned[],
  send: () => Promise<T>,
): Promise<T> {
  const [first] = planned
  if (first === undefined || first.plan.begin !== undefined) return send()
  const { plan } = first
  return withSetting(session, plan.atOnce && plan.setting, {
    doubt,
    signal,
    work: () => take(plan, { dialect, signal, limit, what: theTable }, send),
  })
}

/** Takes a lock inside of the transaction, under the setting that limits its wait. */
export function takeInside(
  { session, dialect, doubt, signal, limit }: OpenTransaction<unknown>,
  plan: Plan,
): Promise<unknown> {
  const send = (): Promise<unknown> => sendLock(session, plan.inTransaction, theTable)
  return withSetting(session, plan.setting, {
    doubt,
    signal,
    work: () => take(plan, { dialect, signal, limit, what: theTable }, send),
  })
}

/** Notes what is held: at once, or, where BEGIN is still under way, as soon as it is answered. */
function noteHeld(
  open: OpenTransaction<unknown>,
  planned: readonly Planned[],
  { stories, onGranted, began }: Pick<Opening, 'stories' | 'onGranted'> & { readonly began: number },
): void {
  const receipts: Mutable<Receipt>[] = []
  const tables = (open.tables ??= new Map())
  for (const { lock, plan } of planned) {
    const receipt = receiptOf(plan, lock, { statements: sentFor(plan), waitedMs: 0 })
    receipts.push(receipt)
    tables.set(idOfTable(lock.table), { receipt, blocksReaders: lock.blockReaders === true })
  }
  const granted = (): void => {
    const waitedMs = performance.now() - began
    for (const receipt of receipts) receipt.waitedMs = waitedMs
    onGranted()
    if (stories !== undefined) tellGranted(open, stories)
  }
  if (open.begun === undefined) granted()
  else open.begun.then(granted, () => {}) // the work waits for its own first statement
}

function sentFor({ begin: word, atOnce, inTransaction }: Plan): Receipt['statements'] {
  if (word !== undefined) return [{ sql: `BEGIN ${word}`, params: [] }]
  return atOnce === undefined ? inTransaction : statementsAtOnce(atOnce)
}
