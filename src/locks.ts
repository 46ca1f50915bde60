import type { Attestation, AttestOptions } from './core/attestation.ts'
import { checkObject } from './core/check-field.ts'
import { LockUsageError } from './core/errors.ts'
import type { InspectOptions, Inspection } from './core/inspection.ts'
import type { Plan } from './core/plan.ts'
import type { AdvisoryRequest, TableRequest, Target, Wait } from './core/request.ts'
import type { Session, Sessions } from './core/session.ts'
import type { Row } from './core/statement.ts'
import type { Unsupported } from './core/support.ts'
import type { Dialect } from './dialects/dialect.ts'
import { planOn } from './dialects/plan-on.ts'
import { createClaims, type Claims } from './locks/queue/claims.ts'
import type { LatestDeadlocks } from './locks/deadlocks/latest.ts'
import { identify } from './locks/identify.ts'
import type { InOrder } from './locks/patterns/in-order.ts'
import { knownKeys } from './locks/named/known-keys.ts'
import { createNamedLocks, type NamedLocks } from './locks/named/named-locks.ts'
import { createNeeds, type Needs } from './locks/needs.ts'
import type { Once } from './locks/patterns/once.ts'
import type { OptimisticWrites } from './locks/patterns/optimistic.ts'
import { createPatterns } from './locks/patterns/patterns.ts'
import type { TransactionOptions } from './locks/transaction/options.ts'
import type { OpenTransaction, Server } from './locks/port.ts'
import { isTarget, lockingRead, type RowQuery } from './locks/rows/query.ts'
import { rememberRowPlans, type PlanRows } from './locks/rows/plans.ts'
import { lockRows, type LockedRows, type LockingRead, type RowOptions } from './locks/rows/rows.ts'
import type { TableLocks } from './locks/table/table-locks.ts'
import { partOf } from './locks/transaction/part.ts'
import { createScope } from './locks/transaction/scope.ts'
import { failWith, runTransaction } from './locks/transaction/transaction.ts'
import type { DialectName, Registry } from './registry.ts'

export type { TableLocks, TableOf } from './locks/table/table-locks.ts'

/** What `createLocks` may be told of the server. What is left out is asked of the server once. */
export interface LocksOptions<D extends DialectName> {
  /** The database, by its name or as a dialect of your own. @default asked of the server once */
  readonly dialect?: D | Dialect
  /** As the server spells it. */
  readonly version?: string
}

/** The ways to wait that at least one of the dialects has. */
export type WaitOf<D extends DialectName> =
  | Exclude<Wait, 'skip'>
  | (Registry[D]['cells']['skip-locked'] extends Unsupported ? never : 'skip')

/** Row lock options that the dialects can give. */
export type RowOptionsOf<D extends DialectName> = Omit<RowOptions, 'wait'> & {
  /** @default 'block' */
  readonly wait?: WaitOf<D>
}

/** What locks are on every database and through every driver alike. */
export interface SharedLocks<Tx> extends NamedLocks<Tx>, OptimisticWrites<Tx>, Claims<Tx> {
  /**
   * Runs `work` in a transaction, and runs the whole transaction again after a deadlock or a serialization failure.
   *
   * Rejects with what `work` threw; with {@link RetryableTransactionError} when every attempt was lost; with
   * {@link CommitOutcomeUnknownError} when the connection broke at COMMIT and nobody can tell whether it is stored.
   *
   * @example
   * const balance = await locks.transaction(
   *   async (tx) => {
   *     const [account] = await locks.rows<{ balance: number }>(tx, { table: 'account', key: { id: 1 } })
   *     return account?.balance
   *   },
   *   { attempts: 5, lockTimeoutMs: 2000 },
   * )
   * balance // => 100
   */
  readonly transaction: <T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions) => Promise<T>
  /**
   * Runs `work` only if no transaction with this key was ever committed: for messages that may arrive twice.
   *
   * The mark is stored in the same transaction as the work, so both are stored or neither.
   *
   * @example
   * const pay = () =>
   *   locks.transaction((tx) => locks.once(tx, ['payment', 42], async () => 'paid'))
   * await pay() // => { isFirst: true, value: 'paid' }
   * await pay() // => { isFirst: false }
   */
  readonly once: Once<Tx>
  /** Locks rows and names in one order that every caller shares, so that two callers cannot deadlock on them. */
  readonly inOrder: InOrder<Tx>
  /**
   * Who holds and who waits on the server now, in one shape for every database.
   *
   * @example
   * const { sessions } = await locks.inspect()
   * sessions.filter(({ state }) => state === 'waiting') // => []
   */
  readonly inspect: (options?: InspectOptions) => Promise<Inspection>
  /**
   * Tests each lock on this server through this pool, with two connections, and reports settings that weaken it. Takes
   * seconds, and leaves nothing behind.
   *
   * @example
   * const { capabilities } = await locks.attest()
   * capabilities.filter(({ observed }) => observed === 'broken') // => []
   */
  readonly attest: (options?: AttestOptions) => Promise<Attestation>
}

/** Locks on one database. `Tx` is what the driver or query library calls a transaction. */
export interface Locks<Tx, D extends DialectName = DialectName> extends SharedLocks<Tx>, TableLocks<Tx, D> {
  /**
   * Locks rows until the transaction ends, and returns them as they are once they are locked.
   *
   * What a subquery of the query reads is not locked. Rejects with {@link LockNotAvailableError} (`wait: 'nowait'`) or
   * {@link LockTimeoutError} when somebody else holds them. Rows that do not exist are not locked, unless you ask for `protectAbsence`.
   *
   * @example
   * await locks.transaction(async (tx) => {
   *   const [book] = await locks.rows<{ n: number }>(tx, { table: 'stock', key: { item: 'book' } })
   *   book?.n // => 1
   * })
   */
  readonly rows: <R extends object = Row>(
    tx: Tx,
    query: RowQuery,
    options?: RowOptionsOf<D>,
  ) => Promise<LockedRows<R>>
}

/**
 * Runs `work` in a transaction, and again after a deadlock or a serialization failure: `locks.transaction` as a function.
 *
 * @example
 * await withTxRetry(locks, async () => 'stored', { attempts: 3 }) // => 'stored'
 */
export function withTxRetry<Tx, T>(
  locks: Pick<Locks<Tx>, 'transaction'>,
  work: (tx: Tx) => Promise<T>,
  options?: TransactionOptions,
): Promise<T> {
  return locks.transaction(work, options)
}

/**
 * Joins an adapter's sessions with the dialects that its driver can reach: as they are, and not by their names, so that
 * whoever uses one database loads one dialect.
 */
export function joinLocks<Tx, D extends DialectName>(
  sessions: Sessions<Tx>,
  dialects: readonly Dialect[],
  options?: LocksOptions<D>,
): Locks<Tx, D> {
  const meeting = meet(sessions, dialects, options)
  return {
    ...meeting.shared,
    table: meeting.lockTable,
    rows: <R extends object>(tx: Tx, query: RowQuery, rowOptions: RowOptionsOf<D> = {}) => {
      const target = isTarget(query) ? query : undefined
      const readOf: RowsCall['readOf'] = (plan) => lockingRead(query, plan)
      return meeting.lockRows(tx, { target, options: rowOptions, readOf }) as Promise<LockedRows<R>>
    },
  }
}

/** A call for row locks, before the server is known. */
export interface RowsCall {
  readonly target: Target | undefined
  readonly options: RowOptions
  /** The statement that reads and locks by this plan. */
  readonly readOf: (plan: Plan) => LockingRead
}

/** The algorithms on one database, for those who give them a face. */
export interface Meeting<Tx> {
  readonly shared: SharedLocks<Tx>
  readonly lockRows: (tx: Tx, call: RowsCall) => Promise<LockedRows<Row>>
  /** Plans such a lock in a transaction that is open. */
  readonly planRows: ReturnType<typeof rememberRowPlans>
  readonly lockTable: TableLocks<Tx>['table']
  /** The transaction that is open in this chain of calls. */
  readonly current: () => OpenTransaction<Tx> | undefined
  /** The open transaction of a `tx`. */
  readonly find: (tx: Tx) => OpenTransaction<Tx>
  /** The deadlocks that the server remembers. */
  readonly deadlocks: (signal?: AbortSignal) => Promise<LatestDeadlocks>
}

/** The sessions beneath locks, by the one function that every face of them has. */
const beneath = new WeakMap<object, Sessions>()

/** The sessions that locks were made on. Undefined for what is no locks, or of another copy of this library. */
export function sessionsOf({ transaction }: { readonly transaction?: unknown }): Sessions | undefined {
  return typeof transaction === 'function' ? beneath.get(transaction) : undefined
}

/** Where a dialect, an adapter and the algorithms meet. */
export function meet<Tx, D extends DialectName>(
  sessions: Sessions<Tx>,
  dialects: readonly Dialect[],
  { dialect, version }: LocksOptions<D> = {},
): Meeting<Tx> {
  const candidates = dialect === undefined ? dialects : [oneOfReached(dialect, dialects)]
  const scope = createScope<Tx>(sessions.source)
  const port = { sessions, server: identify({ dialects: candidates, version }) }
  const needs = createNeeds(port)
  const transactions = { port, scope, candidates, planTable }
  const { current, find } = scope
  const transaction: SharedLocks<Tx>['transaction'] = (work, options) =>
    runTransaction(transactions, work, options)
  beneath.set(transaction, sessions)
  const planFor = rememberRowPlans(planRows)
  const rowsOf = rowLockIn({ find, needs, planFor })
  const named = createNamedLocks(transactions, { planFor: emitNamed, needs })
  const rowsAt = (tx: Tx, target: Target, options: RowOptions = {}): Promise<LockedRows<Row>> =>
    rowsOf(tx, { target, options, readOf: (plan) => lockingRead(target, plan) })
  const shared: SharedLocks<Tx> = {
    ...named,
    ...createClaims(port, find),
    transaction,
    ...createPatterns<Tx>({ find, current, transaction, lock: named.lock, rows: rowsAt }),
    // what is seldom asked for is loaded when it is
    inspect: async (options) => (await import('./locks/inspect.ts')).createInspect(port, knownKeys)(options),
    attest: async (options) => (await import('./locks/attest/attest.ts')).attest({ port, join }, options),
  }
  const deadlocks: Meeting<Tx>['deadlocks'] = async (signal) =>
    (await import('./locks/deadlocks/latest.ts')).latestDeadlocks(port, { keys: knownKeys, signal })
  const lockTable = tableLockIn(find)
  return { shared, lockRows: rowsOf, planRows: planFor, lockTable, current, find, deadlocks }
}

interface RowLocking<Tx> {
  readonly find: Meeting<Tx>['find']
  readonly needs: Needs
  readonly planFor: Meeting<Tx>['planRows']
}

function rowLockIn<Tx>({ find, needs, planFor }: RowLocking<Tx>): Meeting<Tx>['lockRows'] {
  return (tx, { target, options, readOf }) => {
    try {
      const open = find(tx)
      checkObject('options', options)
      const plan = planFor(open, options, target)
      return lockRows(open, { plan, read: readOf(plan), options, needs, table: target?.table })
    } catch (error) {
      return failWith(error)
    }
  }
}

function tableLockIn<Tx>(find: (tx: Tx) => OpenTransaction<Tx>): Meeting<Tx>['lockTable'] {
  return async (tx, table, options = {}) => {
    const open = find(tx)
    return partOf(open, async () =>
      (await import('./locks/table/table.ts')).lockTable(open, { table, options, planTable }),
    )
  }
}

/** The driver or ORM is for one database: the words of another would be sent there all the same. */
function oneOfReached(dialect: DialectName | Dialect, reached: readonly Dialect[]): Dialect {
  if (typeof dialect === 'object' && dialect !== null) return dialect
  const found = reached.find(({ name }) => name === dialect)
  if (found !== undefined) return found
  const names = reached.map(({ name }) => name).join(' or ')
  throw new LockUsageError(
    'dialect',
    `${dialect} is not what this is connected to: leave it out, or say ${names}`,
  )
}

/** Locks of an application of its own, on these connections. Its work is not called before its lock is granted. */
function join<Tx>(sessions: Sessions<Tx>, { dialect, version }: Server): Locks<Tx> {
  // not a copy: what the session inherits is part of it, and `tx` may be there only inside of a transaction
  const open = async (): Promise<Session<Tx>> =>
    Object.create(await sessions.open(), { ride: { value: undefined } }) as Session<Tx>
  return joinLocks({ ...sessions, open }, [], { dialect, version: version.join('.') })
}

function planTable({ dialect, version }: Server, request: TableRequest): Plan {
  return planOn({ dialect, version }, 'table', request)
}

function emitNamed({ dialect, version }: Server, request: AdvisoryRequest): Plan {
  return planOn({ dialect, version }, 'advisory', request)
}

const planRows: PlanRows = ({ dialect, version, isolation }, lock, target) => {
  const request = { ...lock, ...(isolation && { isolation }), ...(target && { target }) }
  const category = lock.mode === 'shared' ? 'row-shared' : 'row-exclusive'
  return planOn({ dialect, version }, category, request)
}
