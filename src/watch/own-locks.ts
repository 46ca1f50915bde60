import type { LockEvent, StatementEvent, TransactionEvent } from '../events/shapes.ts'
import { statementLock } from './order-locks.ts'
import type { Places } from './places.ts'
import { RowCalls } from './row-calls.ts'

/** The locks that the work takes by its own statements, as events: nobody asks for these, so nobody tells of them. */
export class OwnLocks {
  readonly #places: Places
  /** What these lock is told by themselves. */
  readonly calls: RowCalls = new RowCalls()
  readonly #asked = new WeakMap<StatementEvent, LockEvent>()
  /** Of each transaction, the one that it has. */
  readonly #held = new WeakMap<TransactionEvent, LockEvent>()

  constructor(places: Places) {
    this.#places = places
  }

  /** Called while the caller is on the stack. */
  starts(statement: StatementEvent): void {
    const { transaction, adapter, dialect } = statement
    if (transaction === undefined || this.calls.of(transaction) !== undefined) return
    const found = statementLock(statement)
    if (found === undefined) return
    const lock: LockEvent = {
      adapter,
      dialect,
      kind: 'rows',
      table: found.table,
      mode: found.lock.mode,
      wait: found.waits ? 'block' : 'nowait',
      transaction,
      outcome: 'granted',
    }
    this.#places.note(lock)
    this.#asked.set(statement, lock)
  }

  /** What an answer has brought: a lock that the transaction has from now on. */
  taken(statement: StatementEvent): LockEvent | undefined {
    const lock = statement.error === undefined ? this.#asked.get(statement) : undefined
    const transaction = lock?.transaction
    // of two that were sent at once, the first is what the transaction is judged by
    if (lock === undefined || transaction === undefined || this.#held.has(transaction)) return undefined
    this.#held.set(transaction, lock)
    return lock
  }

  /** What a transaction that has ended gives up. */
  ended(transaction: TransactionEvent | undefined): LockEvent | undefined {
    const lock = transaction && this.#held.get(transaction)
    if (transaction !== undefined) this.#held.delete(transaction)
    return lock
  }
}
