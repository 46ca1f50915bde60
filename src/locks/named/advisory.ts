import { deadlineIn, type Deadline } from '../../core/deadline.ts'
import { LockNotAvailableError, LockTimeoutError, LockUsageError } from '../../core/errors.ts'
import type { LockKey } from '../../core/key.ts'
import type { Receipt } from '../../core/receipt.ts'
import { HoldSignal } from './hold-signal.ts'
import { joinLock } from './join-lock.ts'
import { takeFreeTurn, takeTurn } from '../lane.ts'
import {
  checkJoin,
  splitOptions,
  type CheckedLock,
  type JoinOptions,
  type WithLockOptions,
} from './lock-options.ts'
import { inCanonicalOrder, keyId, type NamedKey } from './named-key.ts'
import type { NamedLocking, Opening } from './opening.ts'
import { asTimeout } from '../open-session.ts'
import type { TransactionOptions } from '../transaction/options.ts'
import type { OpenTransaction } from '../port.ts'
import { runTransaction, type Transactions } from '../transaction/transaction.ts'

/** A named lock while the work that it protects runs. */
export interface LockInTransaction {
  readonly key: LockKey
  readonly receipt: Receipt
  /** Aborts when the call is aborted, and when the connection that holds the lock is found broken. */
  readonly signal: AbortSignal
}

/** Several named locks while the work that they protect runs. */
export interface LocksInTransaction {
  /** In the order in which they were taken; a key that was given twice is there once. */
  readonly keys: readonly LockKey[]
  readonly receipts: readonly Receipt[]
  readonly signal: AbortSignal
}

export type LockedWork<Tx, T> = (tx: Tx, held: LockInTransaction) => Promise<T>

/** Named locks that last as long as a transaction. */
export interface AdvisoryLocks<Tx> {
  /** Runs `work` in a transaction that holds the lock from before its first statement until after its end. */
  readonly withLock: <T>(key: LockKey, work: LockedWork<Tx, T>, options?: WithLockOptions) => Promise<T>
  /** The same, unless another holds the lock: then the work is not run, and the result is null. */
  readonly tryLock: <T>(
    key: LockKey,
    work: LockedWork<Tx, T>,
    options?: Omit<WithLockOptions, 'wait'>,
  ) => Promise<T | null>
  /** The same with several locks, all or none of them, taken in an order that every caller shares. */
  readonly withLocks: <T>(
    keys: readonly LockKey[],
    work: (tx: Tx, held: LocksInTransaction) => Promise<T>,
    options?: WithLockOptions,
  ) => Promise<T>
  /**
   * Takes the lock for the rest of a transaction that is under way.
   *
   * Refused where the transaction might have read before, and so would not see what the last holder stored.
   */
  readonly lock: (tx: Tx, key: LockKey, options?: JoinOptions) => Promise<Receipt>
}

let created = 0

export function createAdvisoryLocks<Tx>(
  transactions: Transactions<Tx>,
  locking: NamedLocking,
): AdvisoryLocks<Tx> {
  const lanes = `named locks ${(created += 1)}`
  const withLocks: AdvisoryLocks<Tx>['withLocks'] = async (keys, work, options = {}) => {
    const split = splitOptions(options)
    const names = inCanonicalOrder(keys)
    const call = { names, lock: split.lock, options: split.transaction, locking, lanes }
    const outer = transactions.scope.current()
    if (outer === undefined) return runLocked(transactions, call, work)
    if (split.transaction.nested !== 'join') throw refuseNested(outer, names)
    for (const name of names) await joinLock(outer, { name, locking, lock: split.lock, savepoint: false })
    return inScope(outer, names, work)
  }
  const withLock: AdvisoryLocks<Tx>['withLock'] = (key, work, options) =>
    withLocks([key], (tx, held) => work(tx, new HeldLock(held)), options)
  return {
    withLocks,
    withLock,
    tryLock: (key, work, options) => tryWith(withLock, { key, work, options }),
    lock: async (tx, key, options = {}) => {
      const lock = checkJoin(options)
      const name = { id: keyId(key), key }
      const savepoint = options.savepoint === true
      return joinLock(transactions.scope.find(tx), { name, locking, lock, savepoint })
    },
  }
}

interface TryCall<Tx, T> {
  readonly key: LockKey
  readonly work: LockedWork<Tx, T>
  readonly options: Omit<WithLockOptions, 'wait'> | undefined
}

async function tryWith<Tx, T>(
  withLock: AdvisoryLocks<Tx>['withLock'],
  { key, work, options }: TryCall<Tx, T>,
): Promise<T | null> {
  if (options !== undefined && 'wait' in options)
    throw new LockUsageError('wait', 'tryLock never waits: use withLock')
  let isAtWork = false
  const noted: LockedWork<Tx, T> = (tx, held) => {
    isAtWork = true
    return work(tx, held)
  }
  try {
    return await withLock(key, noted, { ...options, wait: 'nowait' })
  } catch (error) {
    if (!isAtWork && error instanceof LockNotAvailableError) return null
    throw error
  }
}

interface LockedCall {
  readonly names: readonly NamedKey[]
  readonly lock: CheckedLock
  readonly options: TransactionOptions
  readonly locking: NamedLocking
  readonly lanes: string
}

async function runLocked<Tx, T>(
  transactions: Transactions<Tx>,
  { names, lock, options, locking, lanes }: LockedCall,
  work: (tx: Tx, held: LocksInTransaction) => Promise<T>,
): Promise<T> {
  const deadline = deadlineIn(typeof lock.wait === 'object' ? lock.wait.timeoutMs : undefined)
  // An engine without named locks has no queue for them either: there the line is that of the holders.
  const holdsTurn = transactions.candidates.every(({ named }) => named.keptBy === 'lease')
  const turns = new Turns()
  let isGranted = false
  const onChange = (granted: boolean): void => {
    isGranted = granted
    if (granted && !holdsTurn) turns.end()
  }
  const opening: Opening = { locking, names, lock, deadline, onChange }
  try {
    if (lock.wait !== 'nowait' && lock.mode === 'exclusive')
      await turns.take(
        names.map(({ id }) => `${lanes} ${id}`),
        deadline,
        options.signal,
      )
    const run = (tx: Tx): Promise<T> => inScope(transactions.scope.find(tx), names, work)
    const { port, scope, candidates } = transactions
    return await runTransaction({ port, scope, candidates, opening }, run, options)
  } catch (error) {
    // where BEGIN is the lock, it has no word for not waiting but a deadline that is over
    if (!isGranted && lock.wait === 'nowait' && error instanceof LockTimeoutError)
      throw new LockNotAvailableError('the lock is held by another', { cause: error })
    throw typeof lock.wait === 'object' ? asTimeout(error) : error
  } finally {
    turns.end()
  }
}

/** Places in the lines of this process: whoever waits in one needs no connection for it. */
class Turns {
  readonly #ends: (() => void)[] = []

  async take(lanes: readonly string[], deadline: Deadline, signal: AbortSignal | undefined): Promise<void> {
    for (const lane of lanes)
      this.#ends.push(takeFreeTurn(lane) ?? (await takeTurn(lane, { deadline, signal })))
  }

  end(): void {
    for (const end of this.#ends.splice(0)) end()
  }
}

async function inScope<Tx, T>(
  open: OpenTransaction<Tx>,
  names: readonly NamedKey[],
  work: (tx: Tx, held: LocksInTransaction) => Promise<T>,
): Promise<T> {
  const hold = new HoldSignal(open)
  try {
    return await work(open.session.tx, new HeldLocks(open, names, hold))
  } finally {
    hold.stop()
  }
}

class HeldLocks implements LocksInTransaction {
  readonly keys: readonly LockKey[]
  readonly receipts: readonly Receipt[]
  readonly #hold: HoldSignal

  constructor({ named }: OpenTransaction<unknown>, names: readonly NamedKey[], hold: HoldSignal) {
    this.keys = names.map(({ key }) => key)
    this.receipts = names.flatMap(({ id }) => named.get(id) ?? [])
    this.#hold = hold
  }

  get signal(): AbortSignal {
    return this.#hold.signal
  }
}

class HeldLock implements LockInTransaction {
  readonly key: LockKey
  readonly receipt: Receipt
  readonly #held: LocksInTransaction

  constructor(held: LocksInTransaction) {
    const [key] = held.keys
    const [receipt] = held.receipts
    if (key === undefined || receipt === undefined) throw new Error('a lock that is held has a receipt')
    this.key = key
    this.receipt = receipt
    this.#held = held
  }

  get signal(): AbortSignal {
    return this.#held.signal
  }
}

function refuseNested(outer: OpenTransaction<unknown>, names: readonly NamedKey[]): LockUsageError {
  return names.some(({ id }) => outer.named.has(id))
    ? new LockUsageError('key', 'this chain of calls holds the lock already')
    : new LockUsageError(
        'nested',
        "a transaction is open in this chain of calls already: use locks.lock(tx, key), or say nested: 'join'",
      )
}
