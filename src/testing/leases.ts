import { wallMs } from '../core/clock.ts'
import type { Row } from '../core/statement.ts'
import type { LeaseClaim, LeaseHeld, LeaseHolder } from '../dialects/lease.ts'
import type { Topics } from './topics.ts'

export const leaseTopic = 'leases'

interface Lease {
  owner: string | undefined
  fence: number
  expiresAt: number
}

/** The leases, as the table `_leases` of a database keeps them: for ever, so that no fence comes twice. */
export class Leases {
  readonly #leases = new Map<string, Lease>()
  readonly #topics: Topics
  /** The highest fences of leases that are kept elsewhere. */
  readonly #admitted = new Map<string, number>()

  constructor(topics: Topics) {
    this.#topics = topics
  }

  /** How long it still lasts, when somebody has it; undefined when it can be had. */
  leftMs(name: string): number | undefined {
    const leftMs = (this.#leases.get(name)?.expiresAt ?? 0) - wallMs()
    return leftMs > 0 ? leftMs : undefined
  }

  /** Answers as a claim is answered. Whoever calls has made sure that nobody guards it. */
  take({ name, owner, ttlMs, news }: LeaseClaim): readonly Row[] {
    const leftMs = this.leftMs(name)
    if (leftMs !== undefined) {
      if (news !== undefined) this.#topics.tell(leaseTopic, news.busy)
      return [{ answer: 0, left_ms: leftMs }]
    }
    const fence = Math.max((this.#leases.get(name)?.fence ?? 0) + 1, wallMs())
    this.#leases.set(name, { owner, fence, expiresAt: wallMs() + ttlMs })
    if (news?.granted !== undefined) this.#topics.tell(leaseTopic, news.granted)
    return [{ answer: 1, fence }]
  }

  renew(held: LeaseHeld, ttlMs: number): readonly Row[] {
    const lease = this.#heldBy(held)
    if (lease === undefined) return []
    lease.expiresAt = wallMs() + ttlMs
    return [{ answer: 1 }]
  }

  end(held: LeaseHolder, holdMs: number, news: string): readonly Row[] {
    const lease = this.#heldBy(held)
    if (lease === undefined) return []
    lease.owner = undefined
    lease.expiresAt = wallMs() + holdMs
    this.#topics.tell(leaseTopic, news)
    return [{ answer: 1 }]
  }

  /** Those of these names that are not free. */
  seen(names: readonly string[]): readonly Row[] {
    return names.flatMap((name) => {
      const { owner, expiresAt = 0 } = this.#leases.get(name) ?? {}
      const leftMs = expiresAt - wallMs()
      return owner !== undefined || leftMs > 0 ? [{ name, left_ms: leftMs }] : []
    })
  }

  /** Also of a transaction that is rolled back: whoever has the higher fence holds the lease all the same. */
  admit(name: string, fence: number): readonly Row[] {
    const highest = Math.max(fence, this.#admitted.get(name) ?? 0)
    this.#admitted.set(name, highest)
    return highest === fence ? [{ answer: 1 }] : []
  }

  check(held: LeaseHeld): readonly Row[] {
    return this.#heldBy(held) === undefined ? [] : [{ answer: 1 }]
  }

  /** As if it had expired, and another had had it since. */
  takeAway(name: string): void {
    const lease = this.#leases.get(name)
    if (lease === undefined) return
    lease.owner = undefined
    lease.fence += 1
    lease.expiresAt = wallMs()
  }

  /** As whoever deletes rows of the table does. */
  forget(name: string): void {
    this.#leases.delete(name)
  }

  /** Those that somebody has. */
  held(): readonly { readonly name: string; readonly owner: string; readonly leftMs: number }[] {
    return [...this.#leases].flatMap(([name, { owner }]) => {
      const leftMs = this.leftMs(name)
      return owner === undefined || leftMs === undefined ? [] : [{ name, owner, leftMs }]
    })
  }

  #heldBy({ name, owner, fence }: LeaseHolder): Lease | undefined {
    const lease = this.#leases.get(name)
    return lease?.owner === owner && (fence === undefined || fence === lease.fence) ? lease : undefined
  }
}
