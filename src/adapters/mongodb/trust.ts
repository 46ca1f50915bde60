import { Reads, type Sign } from './reads.ts'

/** What the driver is seen to do with one session. */
class Sight<S extends object> implements ProxyHandler<S> {
  readonly session: S
  readonly count: Record<Sign, number> = { start: 0, answer: 0, end: 0 }
  readonly #reads = new Reads()

  constructor(session: S) {
    this.session = new Proxy(session, this)
  }

  get(session: S, name: PropertyKey): unknown {
    const sign = this.#reads.note(name)
    if (sign !== undefined) this.count[sign] += 1
    return Reflect.get(session, name)
  }
}

/**
 * Whether the operations of one client can be counted by what its driver asks their session.
 *
 * Not known before the first transaction. Once it has proved wrong it is not tried again.
 */
export class Trust {
  #isKept: boolean | undefined
  readonly #client: object

  constructor(client: object) {
    this.#client = client
  }

  get isKept(): boolean {
    return this.#isKept === true
  }

  get isLost(): boolean {
    return this.#isKept === false
  }

  /** Makes a call of the adapter's own, whose start and end are known: what is seen of it has to agree. */
  async check<S extends object, T>(session: S, call: (session: S) => Promise<T>): Promise<T> {
    const sight = new Sight(session)
    try {
      const answer = await call(sight.session)
      if (!this.#isUsual(sight.count)) this.lose()
      this.#isKept ??= true
      return answer
    } finally {
      if (sight.count.start !== sight.count.end) this.lose()
    }
  }

  /** An operation that an overloaded server has refused is tried again: it has several answers. */
  #isUsual({ start, answer }: Record<Sign, number>): boolean {
    return start > 0 && (this.isKept ? answer >= start : answer === start)
  }

  lose(): void {
    if (this.isLost) return
    this.#isKept = false
    void warn(this.#client)
  }
}

const trusts = new WeakMap<object, Trust>()

/** One for each client, whoever asks. */
export function trustIn(client: object): Trust {
  const trust = trusts.get(client) ?? new Trust(client)
  trusts.set(client, trust)
  return trust
}

async function warn(client: object): Promise<void> {
  const { options } = client as { readonly options?: { readonly metadata?: unknown } }
  const told = await Promise.resolve(options?.metadata).catch(() => {})
  const { driver } = (told ?? {}) as { readonly driver?: { readonly version?: string } }
  const message =
    `mongodb ${driver?.version ?? 'of an unknown version'} treats sessions in another way than the versions ` +
    'that are known. Transactions now take two round trips more, and COMMIT waits for operations through tx.db only'
  process.emitWarning(message, 'HoldfastWarning')
}
