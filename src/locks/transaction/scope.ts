import { AsyncLocalStorage } from 'node:async_hooks'
import { LockUsageError } from '../../core/errors.ts'
import type { OpenTransaction } from '../port.ts'

/** The transactions of one `locks` object: which is open in this chain of calls, and which belongs to which `tx`. */
export interface Scope<Tx> {
  readonly current: () => OpenTransaction<Tx> | undefined
  /** Runs the work as a part of the transaction, until `leave`. */
  readonly enter: <T>(transaction: OpenTransaction<Tx>, work: () => Promise<T>) => Promise<T>
  readonly leave: (transaction: OpenTransaction<Tx>) => void
  /** The open transaction of a `tx` that was given to the caller's work. */
  readonly find: (tx: Tx) => OpenTransaction<Tx>
}

export function createScope<Tx>(): Scope<Tx> {
  const storage = new AsyncLocalStorage<OpenTransaction<Tx>>()
  // Not a Map: the tables that one outgrows point at their successors, and so keep every transaction until the next
  // full collection of garbage.
  const open = new WeakMap<WeakKey, OpenTransaction<Tx>>()
  return {
    current: () => {
      const inherited = storage.getStore()
      // work that was started inside a transaction and outlives it is outside again
      return inherited !== undefined && open.get(inherited.session.tx as WeakKey) === inherited
        ? inherited
        : undefined
    },
    enter: (transaction, work) => {
      open.set(transaction.session.tx as WeakKey, transaction)
      return storage.run(transaction, work)
    },
    leave: ({ session }) => void open.delete(session.tx as WeakKey),
    find: (tx) => {
      const found = open.get(tx as WeakKey)
      if (found === undefined) {
        throw new LockUsageError(
          'tx',
          'is not an open transaction of these locks: use the tx that locks.transaction gives',
        )
      }
      return found
    },
  }
}
