import type { LockKey } from '../../core/key.ts'
import type { Receipt } from '../../core/receipt.ts'
import type { JoinedLock, OpenTransaction } from '../port.ts'
import { HoldSignal } from './hold-signal.ts'
import type { NamedKey } from './named-key.ts'

/** A named lock while the work that it protects runs. */
export interface LockInTransaction {
  /** The key that it was taken with. */
  readonly key: LockKey
  /** What was really taken. */
  readonly receipt: Receipt
  /**
   * Aborts when the call is aborted, when the connection that holds the lock is found broken, and when the work goes
   * back to a savepoint from before the lock, where that gives it up.
   */
  readonly signal: AbortSignal
}

/** Several named locks while the work that they protect runs. */
export interface LocksInTransaction {
  /** In the order in which they were taken; a key that was given twice is there once. */
  readonly keys: readonly LockKey[]
  /** What was really taken, for each key in the same order. */
  readonly receipts: readonly Receipt[]
  /** Aborts as that of {@link LockInTransaction} does, as soon as one of the locks is lost. */
  readonly signal: AbortSignal
}

/** A lock that is held. A class, because a getter in an object literal gives every object a shape of its own. */
export class HeldLock implements LockInTransaction {
  readonly key: LockKey
  readonly receipt: Receipt
  readonly #hold: HoldSignal

  constructor(open: OpenTransaction<unknown>, name: NamedKey | undefined) {
    const receipt = name && open.named.get(name.id)
    if (name === undefined || receipt === undefined) throw new Error('a lock that is held has a receipt')
    this.key = name.key
    this.receipt = receipt
    this.#hold = new HoldSignal(open, open.joined && joinedOf(open, [name]))
  }

  get signal(): AbortSignal {
    return this.#hold.signal
  }
}

/** Several of them. */
export class HeldLocks implements LocksInTransaction {
  readonly keys: readonly LockKey[]
  readonly receipts: readonly Receipt[]
  readonly #hold: HoldSignal

  constructor(open: OpenTransaction<unknown>, names: readonly NamedKey[]) {
    this.keys = names.map(({ key }) => key)
    this.receipts = names.flatMap(({ id }) => open.named.get(id) ?? [])
    this.#hold = new HoldSignal(open, open.joined && joinedOf(open, names))
  }

  get signal(): AbortSignal {
    return this.#hold.signal
  }
}

function joinedOf({ joined }: OpenTransaction<unknown>, names: readonly NamedKey[]): readonly JoinedLock[] {
  return names.flatMap(({ id }) => joined?.get(id) ?? [])
}
