import { LockUsageError } from '../core/errors.ts'
import type { Traffic } from './mongodb-traffic.ts'

/** What ends a transaction, or begins another: its owner's business. */
const ownersCalls: ReadonlySet<PropertyKey> = new Set([
  'startTransaction',
  'commitTransaction',
  'abortTransaction',
  'withTransaction',
  'endSession',
])

/**
 * A session as the work receives it, for one transaction. Whatever the work does with it is known here, also through
 * another `Db` of the same client.
 *
 * The driver tells nobody which operations of a session are under way, but it has to ask the session. When it starts
 * one it asks whether it is for snapshots, then for its client, then whether it is pinned. When it has an answer, or
 * has lost the connection, it asks again whether it is for snapshots. At the end it asks for the owner, twice in a row
 * if there is one; a cursor that is closed asks once. And before it sends anything it asks whether it has ended.
 */
export class LentSession<S extends object> implements ProxyHandler<S> {
  readonly session: S
  /** What the work has called that is not for it. */
  misuse: LockUsageError | undefined
  #isOver = false
  #isStarting = false
  #lastAsked: PropertyKey | undefined
  readonly #traffic: Traffic

  constructor(session: S, traffic: Traffic) {
    this.#traffic = traffic
    this.session = new Proxy(session, this)
  }

  /** From now on the driver refuses what is given this session, and sends nothing of it. */
  end(): void {
    this.#isOver = true
  }

  get(session: S, name: PropertyKey): unknown {
    this.#count(name)
    if (name === 'hasEnded' && this.#isOver) return true
    if (name === 'owner') return this // not the owner of any operation
    if (ownersCalls.has(name)) return () => this.#refuse(String(name))
    return Reflect.get(session, name) // getters and setters see the session itself
  }

  set(session: S, name: PropertyKey, value: unknown): boolean {
    return Reflect.set(session, name, value)
  }

  #count(name: PropertyKey): void {
    const before = this.#lastAsked
    this.#lastAsked = name
    if (name === 'snapshotEnabled') this.#traffic.unanswered -= 1
    else if (name === 'client') this.#isStarting = true
    else if (name === 'isPinned' && this.#isStarting) {
      this.#isStarting = false
      this.#traffic.unanswered += 1 // what was asked first was no answer yet
      this.#traffic.start()
    } else if (name === 'owner' && before === 'owner') {
      this.#lastAsked = undefined
      this.#traffic.end()
    }
  }

  #refuse(call: string): never {
    this.misuse ??= new LockUsageError(
      'session',
      `the work cannot call ${call}: its transaction is committed when it returns, and rolled back when it throws`,
    )
    throw this.misuse
  }
}
