import type { LockEvent, TransactionEvent } from '../events/shapes.ts'

/** The calls of `locks.rows` that are under way: what their statements lock is what the calls ask for. */
export class RowCalls {
  readonly #calls = new WeakMap<TransactionEvent, Set<LockEvent>>()

  start(call: LockEvent): void {
    if (call.kind !== 'rows' || call.transaction === undefined) return
    const calls = this.#calls.get(call.transaction) ?? new Set()
    this.#calls.set(call.transaction, calls.add(call))
  }

  end(call: LockEvent): void {
    if (call.transaction !== undefined) this.#calls.get(call.transaction)?.delete(call)
  }

  /** The oldest one of a transaction. */
  of(transaction: TransactionEvent): LockEvent | undefined {
    const [call] = this.#calls.get(transaction) ?? []
    return call
  }
}
