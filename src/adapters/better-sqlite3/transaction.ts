import { LockUsageError } from '../../core/errors.ts'
import type { StatementEar, Witness } from '../../core/session.ts'
import { noteFailure } from '../note-failure.ts'
import { untilQuiet } from './quiet.ts'
import { endedByWork, floatingFailure, nothingToCommit } from '../transaction-end.ts'

/** What tells whether a handle has a transaction open. */
export interface TransactionHandle {
  readonly inTransaction: boolean
  readonly open?: boolean
}

/** SQLite neither commits nor rolls back while an iterator reads. */
interface Iterating {
  next(): unknown
  return?(): unknown
}

/** The transaction of a session: whether it is open, and what has ended it before its time. */
export class SqliteTransaction implements Witness {
  ear: StatementEar | undefined = undefined
  readonly #handle: TransactionHandle
  #iterators: Set<Iterating> | undefined
  #isOpen = false
  #hasEnded = false
  #isOver = false
  #hasReturned = false
  /** What has failed since the work returned. */
  #late: unknown
  #failure: unknown
  #failures: unknown[] | undefined

  constructor(handle: TransactionHandle) {
    this.#handle = handle
  }

  get failures(): readonly unknown[] {
    return this.#failures ?? []
  }

  begin(): void {
    this.#isOpen = true
    this.#failures = undefined
    this.#hasEnded = false
    this.#hasReturned = false
    this.#late = undefined
    this.#failure = undefined
  }

  /** Nothing is under way when the work has returned; but a function that it has not awaited may go on by itself. */
  untilIdle(): Promise<void> {
    this.#hasReturned = true
    return untilQuiet()
  }

  /** Refuses every further call of the work, and ends what it still reads. */
  leave(): void {
    this.#isOpen = false
    this.#hasEnded = true
    for (const iterator of this.#iterators ?? []) iterator.return?.()
    this.#iterators = undefined
  }

  /** The session is given back: nobody may send anything through it any more. */
  end(): void {
    this.leave()
    this.#isOver = true
  }

  /** Makes a call of the work, if its transaction is still there. Before the first one, Holdfast looks at the handle. */
  callByWork<T>(call: () => T): T {
    if (this.#hasEnded) throw ended()
    return this.#hasReturned ? this.#callLate(call) : this.call(call)
  }

  /** The same for a function of the work's own: what that throws need not come from a statement. */
  callWork<T>(work: () => T): T {
    if (this.#hasEnded) throw ended()
    return this.#isOpen ? this.#watch(work, true) : work()
  }

  /** Makes a call of Holdfast's own, which may be outside of a transaction. */
  call<T>(call: () => T): T {
    if (this.#isOver) throw ended()
    return this.#isOpen ? this.#watch(call) : call()
  }

  /** Makes a call that runs a statement, and tells who listens. */
  statement<T>(text: string, params: unknown, call: () => T): T {
    const { ear } = this
    if (ear === undefined) return call()
    ear.sent(text, params)
    try {
      const answer = call()
      ear.answered()
      return answer
    } catch (error) {
      ear.answered(error)
      throw error
    }
  }

  /** Rejects what is to be committed and is gone. */
  mustBeThere(): void {
    if (!this.#handle.inTransaction) throw this.#whyGone()
    if (this.#late !== undefined) throw floatingFailure(this.#late)
  }

  keep(iterator: Iterating): void {
    this.#iterators ??= new Set()
    this.#iterators.add(iterator)
  }

  forget(iterator: Iterating): void {
    this.#iterators?.delete(iterator)
  }

  #callLate<T>(call: () => T): T {
    try {
      return this.call(call)
    } catch (error) {
      this.#late ??= error
      throw error
    }
  }

  /** The error that ends the transaction is the one to blame, not one that came before it. */
  #watch<T>(call: () => T, isOfWork = false): T {
    // without a transaction each statement would be stored by itself
    if (this.#isGone()) throw this.#whyGone()
    try {
      return call()
    } catch (error) {
      if (!this.#handle.inTransaction) this.#failure ??= error
      if (!isOfWork) noteFailure((this.#failures ??= []), error)
      throw error
    }
  }

  /** A handle that was closed says so itself. */
  #isGone(): boolean {
    return !this.#handle.inTransaction && this.#handle.open !== false
  }

  #whyGone(): LockUsageError {
    return this.#failure === undefined ? endedByWork() : nothingToCommit(this.#failure)
  }
}

function ended(): LockUsageError {
  return new LockUsageError('tx', 'the transaction has ended')
}
