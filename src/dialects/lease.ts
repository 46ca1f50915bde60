import type { ErrorTable } from '../core/classification.ts'
import type { Answers, Statement } from '../core/statement.ts'

/** Who asks for a lease, and for how long. */
export interface LeaseClaim {
  readonly name: string
  /** Unique for each acquisition: two claims of one process are two owners. */
  readonly owner: string
  readonly ttlMs: number
  /** Not told on an engine where the topic's messages are none of ours. */
  readonly news?: LeaseNews
  /** Whether it is to fail at once where it would wait for another's transaction, on an engine that can do so. */
  readonly isNowait?: boolean
}

/** What those who listen to the topic are told of a claim, by how it ends. */
export interface LeaseNews {
  /** Absent when there is nobody to tell. */
  readonly granted?: string
  readonly busy: string
}

/** A lease that was granted. */
export interface LeaseHeld {
  readonly name: string
  readonly owner: string
  readonly fence: number
}

/** A lease that is to last so long from now on. */
export interface LeaseRenewal {
  readonly held: LeaseHeld
  readonly ttlMs: number
}

/** A lease by its owner, who is unique; the fence is compared too where it is known. */
export type LeaseHolder = Omit<LeaseHeld, 'fence'> & Partial<Pick<LeaseHeld, 'fence'>>

/**
 * Leases as rows (or documents) of `_leases`, by the server's clock alone.
 *
 * Each list is sent in its order on one connection, outside of a transaction, one statement at a time; the last one
 * answers. Every single statement is atomic, so a list that ends early has either taken the lease for `owner` or
 * changed nothing.
 *
 * Two who race may also see it as an error of a retryable kind or a `unique-violation`: the one that fails has changed
 * nothing, and its list may be sent again.
 */
export interface LeaseStatements {
  /** Makes the table; safe to run again. Also what `holdfast schema` prints. */
  readonly schema: readonly Statement[]
  /** The engine makes it when it is first written to, and nothing fails without `schema`, which only adds to it. */
  readonly isMadeByUse?: boolean
  /**
   * Takes a lease that is free or has expired: answers `granted` with a row that has `fence`, or `busy`, where the row
   * may have `left_ms`: how long the lease lasts unless it is renewed.
   *
   * The fence is higher than every earlier one of the name, also when the row was deleted meanwhile: it is at least the
   * server's clock in milliseconds.
   *
   * A lease that has expired under an open transaction of {@link guard} is not to be had before that has ended: the
   * statement waits for it, or fails with a conflict. One that has not expired is `busy` at once.
   */
  readonly acquire: (claim: LeaseClaim) => readonly Statement[]
  /** Such a statement waits for that transaction even when the claim is not to. */
  readonly acquireAlwaysWaits?: boolean
  /**
   * Moves the end of a lease that is still its owner's to `ttlMs` from now: `granted`, or `not-held`. A lease that has
   * expired is still its owner's until another takes it.
   */
  readonly renew: (held: LeaseHeld, ttlMs: number) => readonly Statement[]
  /**
   * Renews all that are still their owners' and that nobody has locked, without waiting: gives a row with `owner` for
   * each, and answers `granted`. What is left out was not renewed, for whatever reason.
   */
  readonly renewAll?: (renewals: readonly LeaseRenewal[]) => Statement
  /**
   * Ends the owner's lease: `released`, or `not-held`, which is no harm. With `holdMs` above 0 nobody else gets it for
   * that long. Those who listen to `topic` are told `news`, or the lease's name. Whoever has not heard the answer to a
   * claim does not know the fence.
   */
  readonly release: (holder: LeaseHolder, holdMs: number, news?: string) => readonly Statement[]
  /**
   * Which of these leases are not free: a row with `name` and `left_ms` for each that somebody has, or that is kept from
   * others for a while. `left_ms` is not above 0 where it has expired and nobody has taken it over or released it, and
   * absent where the server does not say when a lease ends.
   *
   * Takes nothing and waits for nobody. Absent in a dialect of somebody's own: then there are no semaphores.
   */
  readonly look?: (names: readonly string[]) => Statement
  /**
   * The first statement of a transaction that only the holder may commit: `granted`, or `not-held` when the lease is
   * another's, was released or was taken over. Nobody takes the lease over before that transaction has ended.
   */
  readonly guard: (held: LeaseHeld) => Statement
  /**
   * The same among servers that do not know each other's locks and compare their changes: it changes the lease's row, so
   * that of this transaction and one that takes the lease over on another server only one is stored.
   */
  readonly guardByChange?: (held: LeaseHeld) => readonly Statement[]
  /**
   * The first statements of a transaction under a lease that is kept elsewhere: `granted`, or `not-held` when a higher fence
   * was seen under this name. The highest one is kept in `_leases`, as a row that nobody owns. Of two such transactions one
   * waits for the end of the other, or fails with a conflict. Absent where a dialect has no way to do so.
   */
  readonly admit?: (name: string, fence: number) => readonly Statement[]
  /** What `Sessions.listen` is given to hear of released leases, where the engine can tell. */
  readonly topic?: string
  /** Tells those who listen to the topic; absent where its messages are none of ours. */
  readonly tell?: (news: string) => Statement
}

/** All but what belongs to a transaction: what keeps leases and nothing else has none. */
export type LeaseCommands = Omit<LeaseStatements, 'guard' | 'guardByChange' | 'admit'>

/** As much of a dialect as leases need: what keeps leases and nothing else has no more. */
export interface LeaseKeeper {
  readonly name: string
  readonly errors: ErrorTable
  readonly lease: LeaseCommands
}

/** How statements answer that give the column `answer` of the row they found or changed, and no row for none. */
export const leaseAnswers: Readonly<Record<'taken' | 'held' | 'released', Answers>> = {
  taken: { column: 'answer', meaning: { 1: 'granted', none: 'busy' } },
  held: { column: 'answer', meaning: { 1: 'granted', none: 'not-held' } },
  released: { column: 'answer', meaning: { 1: 'released', none: 'not-held' } },
}
