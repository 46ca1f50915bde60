import { checkWork } from '../../core/check-field.ts'
import { performance } from '../../core/clock.ts'
import { deadlineIn, type Deadline } from '../../core/deadline.ts'
import { LockTimeoutError, LockUsageError } from '../../core/errors.ts'
import { ownKey, type LockKey } from '../../core/key.ts'
import type { Receipt } from '../../core/receipt.ts'
import { alreadyHeld, mustNotBeHeldAround } from './held-around.ts'
import { HeldLock, HeldLocks, type LocksInTransaction } from './held-lock.ts'
import { joinLock } from './join-lock.ts'
import type { Lanes } from '../lane.ts'
import {
  checkJoin,
  checkWithLock,
  type CheckedLock,
  type JoinOptions,
  type WithLockOptions,
} from './lock-options.ts'
import { askedOf, inCanonicalOrder, namedKey, type NamedKey } from './named-key.ts'
import { waitDeadline, type NamedLocking, type Opening } from './opening.ts'
import { NoAnswerError } from '../limit.ts'
import { asTimeout } from '../open-session.ts'
import { askedOn, naming, notAvailable, type Asked, limitedBy } from '../refused.ts'
import { tryWith, type LockedWork, type Tried } from './try-lock.ts'
import { endTurns, takeTurns, turnsWithin, type Turns } from './turns.ts'
import { checkPart } from '../transaction/join.ts'
import type { TransactionOptions } from '../transaction/options.ts'
import { tellOpening } from '../transaction/lock-stories.ts'
import { stepsOf } from '../transaction/part.ts'
import type { OpenTransaction } from '../port.ts'
import type { runBatch } from '../batch/run-batch.ts'
import type { BatchResult, DeclaredStatement } from '../batch/statement.ts'
import type { Whole } from '../transaction/job.ts'
import { failWith, runOutermost, type Transactions } from '../transaction/transaction.ts'

/** Named locks that last as long as a transaction. */
export interface AdvisoryLocks<Tx> {
  /**
   * Runs `work` in a transaction that holds the lock from before its first statement until after its end.
   *
   * Others that ask for the same key wait. Rejects with {@link LockTimeoutError} when `wait` is a time and it is over.
   *
   * @example
   * const done = await locks.withLock(['upload', 7], async (_tx, held) => held.key, { wait: { timeoutMs: 5000 } })
   * done // => ['upload', 7]
   */
  readonly withLock: <T>(key: LockKey, work: LockedWork<Tx, T>, options?: WithLockOptions) => Promise<T>
  /**
   * Runs `work` under the lock if nobody holds it. Otherwise the work is not run, and `acquired` is false. Never waits
   * for the lock; for a connection it waits as every transaction does.
   *
   * @example
   * await locks.tryLock('report', async () => 'done') // => { acquired: true, value: 'done' }
   */
  readonly tryLock: <T>(
    key: LockKey,
    work: LockedWork<Tx, T>,
    options?: Omit<WithLockOptions, 'wait'>,
  ) => Promise<Tried<T>>
  /**
   * Runs `work` under several locks: all or none of them, taken in an order that every caller shares.
   *
   * @example
   * await locks.withLocks([['account', 2], ['account', 1]], async (_tx, { keys }) => keys.length) // => 2
   */
  readonly withLocks: <T>(
    keys: readonly LockKey[],
    work: (tx: Tx, held: LocksInTransaction) => Promise<T>,
    options?: WithLockOptions,
  ) => Promise<T>
  /**
   * Runs statements that are known beforehand under the lock, in a transaction of their own: in one round trip on
   * PostgreSQL through `pg`, one by one elsewhere. Gives the rows of each.
   *
   * Gives `undefined`, and stores nothing, when a statement does not have the rows that it is to `expect`.
   *
   * @example
   * const [rows] = await locks.batch('report', [{ sql: 'SELECT 7 AS n' }])
   * rows // => [{ n: 7 }]
   */
  readonly batch: <const S extends readonly DeclaredStatement<unknown>[]>(
    key: LockKey,
    statements: S,
    options?: Omit<WithLockOptions, 'nested' | 'tables'>,
  ) => Promise<BatchResult<S>>
  /**
   * Takes the lock for the rest of a transaction that is under way.
   *
   * Refused where the transaction might have read before, and so would not see what the last holder stored.
   */
  readonly lock: (tx: Tx, key: LockKey, options?: JoinOptions) => Promise<Receipt>
}

export function createAdvisoryLocks<Tx>(
  transactions: Transactions<Tx>,
  locking: NamedLocking,
): AdvisoryLocks<Tx> {
  const place: Place<Tx> = {
    transactions,
    locking,
    lanes: new Map(),
    // An engine without named locks has no queue for them either: there the line is that of the holders.
    holdsTurn: transactions.candidates.every(({ named }) => named.keptBy === 'lease'),
  }
  const withLock: AdvisoryLocks<Tx>['withLock'] = (key, work, options = {}) =>
    runNamed(place, { keys: [key], options, given: work }, (open, [name]) =>
      work(open.session.tx, new HeldLock(open, name)),
    )
  return {
    withLock,
    withLocks: (keys, work, options = {}) =>
      runNamed(place, { keys, options, given: work }, (open, names) =>
        work(open.session.tx, new HeldLocks(open, names)),
      ),
    tryLock: (key, work, options) => tryWith(withLock, { key, work, options }),
    batch: createBatch(place),
    lock: async (tx, key, options = {}) => {
      const lock = checkJoin(options)
      const name = namedKey(key)
      const savepoint = options.savepoint === true
      return joinLock(transactions.scope.find(tx), { name, locking, lock, savepoint })
    },
  }
}

/** Loaded when it is first called: few programs declare their work. */
function createBatch<Tx>(place: Place<Tx>): AdvisoryLocks<Tx>['batch'] {
  let batching: { readonly runBatch: typeof runBatch } | undefined
  return async (asked, statements, options = {}) => {
    const [key, given] = [ownKey(asked), asTheyAre(statements)]
    batching ??= await import('../batch/run-batch.ts')
    const { candidates, scope } = place.transactions
    if (scope.current() !== undefined)
      throw new LockUsageError(
        'batch',
        'a transaction is already open in this call chain: take locks.lock(tx, key), and send the statements on its tx',
      )
    const results = await batching.runBatch(
      (whole, oneByOne) => runNamed(place, { keys: [key], options, given: oneByOne, whole }, oneByOne),
      { statements: given, options, candidates },
    )
    return results as never
  }
}

/** Whoever made the statements may change them for the next call before they are sent. */
function asTheyAre(statements: unknown): unknown {
  if (!Array.isArray(statements)) return statements
  return statements.map((one: unknown) => {
    if (typeof one !== 'object' || one === null) return one
    const { params } = one as { readonly params?: unknown }
    return { ...one, ...(Array.isArray(params) && { params: [...(params as unknown[])] }) }
  })
}

/** What the named locks of one `locks` object have in common. */
interface Place<Tx> {
  readonly transactions: Transactions<Tx>
  readonly locking: NamedLocking
  /** Whoever waits in one of these lines, which are this process's own, needs no connection for it. */
  readonly lanes: Lanes
  readonly holdsTurn: boolean
}

interface NamedCall<T> {
  readonly keys: readonly LockKey[]
  readonly options: WithLockOptions
  /** The caller's own work, as it was given. */
  readonly given: unknown
  /** All that the work does, where that is known. */
  readonly whole?: Whole<T>
}

type NamedWork<Tx, T> = (open: OpenTransaction<Tx>, names: readonly NamedKey[]) => Promise<T>

/** Runs `work` under its locks: in a transaction of its own, or as a part of the one that is open. */
function runNamed<Tx, T>(
  place: Place<Tx>,
  { keys, options, given, whole }: NamedCall<T>,
  work: NamedWork<Tx, T>,
): Promise<T> {
  try {
    checkWork(given)
    const { lock, transaction } = checkWithLock(options)
    const call = { names: inCanonicalOrder(keys), lock, options: transaction, ...(whole && { whole }) }
    const outer = place.transactions.scope.current()
    if (outer !== undefined) return asPart(outer, place, { ...call, work })
    if (transaction.lockTimeoutMs === undefined && transaction.budgetMs === undefined)
      mustNotBeHeldAround(place.transactions.port.sessions.source, call.names, lock)
    return runLocked(place, call, work)
  } catch (error) {
    return failWith(error)
  }
}

interface LockedCall<T> {
  readonly names: readonly NamedKey[]
  readonly lock: CheckedLock
  readonly options: TransactionOptions
  readonly whole?: Whole<T>
}

async function asPart<Tx, T>(
  outer: OpenTransaction<Tx>,
  { locking }: Place<Tx>,
  { names, lock, options, work }: LockedCall<T> & { readonly work: NamedWork<Tx, T> },
): Promise<T> {
  if (options.nested !== 'join') throw refuseNested(outer, names)
  return stepsOf(outer, async () => {
    await checkPart(outer, options)
    for (const name of names) await joinLock(outer, { name, locking, lock, savepoint: false })
    return work(outer, names)
  })
}

function runLocked<Tx, T>(
  { transactions, locking, lanes, holdsTurn }: Place<Tx>,
  { names, lock, options, whole }: LockedCall<T>,
  work: NamedWork<Tx, T>,
): Promise<T> {
  const { port, scope, candidates } = transactions
  const [deadline, budget] = [waitDeadline(lock), deadlineIn(options.budgetMs)]
  const turns = turnsOf({ lock, options, deadline, budget }, lanes)
  let isGranted = false
  const onChange = (granted: boolean): void => {
    isGranted = granted
    if (granted && !holdsTurn) endTurns(turns)
  }
  const asked = limitedBy(options, askedOf(names, lock))
  const stories = tellOpening(port, () => names.map(({ key }) => ({ kind: 'named', key, ...lock })))
  const opening: Opening = { locking, names, lock, deadline, turnMs: 0, onChange, stories }
  const run = (): Promise<T> =>
    runOutermost({
      ...transactions,
      options,
      ...(options.budgetMs !== undefined && { budget }),
      opening,
      work: (tx) => work(scope.find(tx), names),
      ...(whole && { whole }),
    })
  const waiting = lock.wait === 'nowait' || lock.mode === 'shared' ? undefined : takeTurns(names, turns)
  const noteTurn = (): void => void (opening.turnMs = performance.now() - asked.began)
  return (waiting === undefined ? run() : waiting.then(noteTurn).then(run)).then(
    (result) => {
      endTurns(turns)
      return result
    },
    (error: unknown) => {
      endTurns(turns)
      const refusal = refusalOf(error, askedOn(port, asked), isGranted)
      for (const story of stories ?? []) story.refused(refusal, candidates)
      throw refusal
    },
  )
}

interface TurnTerms extends Pick<LockedCall<unknown>, 'lock' | 'options'> {
  readonly deadline: Deadline
  readonly budget: Deadline
}

/** Of the wait for a turn the server knows nothing: it has to end by what the lock and the call are given. */
function turnsOf({ lock, options, deadline, budget }: TurnTerms, lanes: Lanes): Turns {
  const untold = typeof lock.wait === 'object' ? [] : [deadlineIn(options.lockTimeoutMs)]
  return turnsWithin([deadline, budget, ...untold], { lanes, signal: options.signal })
}

function refusalOf(thrown: unknown, asked: Asked, isGranted: boolean): unknown {
  const error = typeof asked.wait === 'object' ? asTimeout(thrown) : thrown
  if (isGranted) return error
  // where BEGIN is the lock, it has no word for not waiting but a deadline that is over
  if (asked.wait === 'nowait' && error instanceof LockTimeoutError && !(error instanceof NoAnswerError))
    return notAvailable(asked, error)
  return naming(error, asked)
}

function refuseNested(outer: OpenTransaction<unknown>, names: readonly NamedKey[]): LockUsageError {
  const held = names.filter(({ id }) => outer.named.has(id))
  return held.length > 0
    ? alreadyHeld(held)
    : new LockUsageError(
        'nested',
        "a transaction is already open in this call chain: use locks.lock(tx, key), or pass nested: 'join'",
      )
}
