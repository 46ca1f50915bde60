import { LockUsageError } from '../../core/errors.ts'
import { Reads } from './reads.ts'
import type { Traffic } from './traffic.ts'

/** What ends a transaction, or begins another: its owner's business. */
const ownersCalls: ReadonlySet<PropertyKey> = new Set([
  'startTransaction',
  'commitTransaction',
  'abortTransaction',
  'withTransaction',
  'endSession',
  Symbol.asyncDispose,
])

/**
 * A session as the work receives it, for one transaction. Whatever the work does with it is known here, also through
 * another `Db` of the same client.
 */
export class LentSession<S extends object> implements ProxyHandler<S> {
  readonly session: S
  /** What the work has called that is not for it. */
  misuse: LockUsageError | undefined
  /** Whether anybody has asked it for something since it ended. */
  isAskedLate = false
  #isOver = false
  readonly #traffic: Traffic | undefined
  readonly #reads = new Reads()

  /** Without `traffic` no operations are counted. */
  constructor(session: S, traffic?: Traffic) {
    this.#traffic = traffic
    this.session = new Proxy(session, this)
  }

  /** From now on the driver refuses what is given this session, and sends nothing of it. */
  end(): void {
    this.#isOver = true
  }

  get(session: S, name: PropertyKey): unknown {
    this.#traffic?.note(this.#reads.note(name))
    this.isAskedLate ||= this.#isOver
    if (name === 'hasEnded' && this.#isOver) return true
    if (name === 'owner') return this // not the owner of any operation
    if (ownersCalls.has(name)) return () => this.#refuse(String(name))
    const value: unknown = Reflect.get(session, name) // getters, setters and methods see the session itself
    return typeof value === 'function' ? value.bind(session) : value
  }

  set(session: S, name: PropertyKey, value: unknown): boolean {
    return Reflect.set(session, name, value)
  }

  #refuse(call: string): never {
    this.misuse ??= new LockUsageError(
      'session',
      `the work cannot call ${call}: its transaction is committed when it returns, and rolled back when it throws`,
    )
    throw this.misuse
  }
}
