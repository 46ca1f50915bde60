import type { DeadlockedSession } from '../../core/deadlock.ts'
import type { LeaseSeen, SessionSeen } from '../../core/inspection.ts'

/*
 * What the board's server tells its pages. Types alone: both sides read them, and neither is loaded by the other.
 */

/** What one look at the database has shown. */
export interface Look {
  readonly dialect: string
  readonly version: string
  readonly sessions: readonly SessionSeen[]
  readonly leases: readonly LeaseSeen[]
  readonly queues: readonly QueueSeen[]
  readonly deadlocks: DeadlocksSeen
  readonly unseen: readonly string[]
  /** How long the database took to answer. */
  readonly tookMs: number
}

/** A queue as it was found. */
export interface QueueSeen {
  readonly name: string
  /** Absent when it could not be counted; `problem` says why. */
  readonly counts?: QueueCounts
  /** For how long the oldest job that can be claimed has been there. Absent without one, or without a column that tells. */
  readonly oldestMs?: number
  /** Whether a column tells since when jobs are there. */
  readonly hasAge: boolean
  /** At least so many: a job that is claimed and done between two looks is not seen. Absent at the first look. */
  readonly claimsPerSecond?: number
  readonly problem?: string
}

/** As `locks.stats` counts them. */
export interface QueueCounts {
  readonly ready: number
  readonly delayed: number
  readonly claimed: number
  /** Absent for a queue without dead letters. */
  readonly dead?: number
}

export interface DeadlocksSeen {
  /** The newest first. */
  readonly latest: readonly DeadlockNote[]
  /** How many the server has counted. Absent where it counts none. */
  readonly counted?: number
  /** What could not be found out, and why. */
  readonly unseen: readonly string[]
}

/**
 * A deadlock. `server`: the server remembers it. `seen`: the board saw sessions wait in a circle. `counted`: the server's
 * count rose, and it tells no more.
 */
export interface DeadlockNote {
  readonly from: 'server' | 'seen' | 'counted'
  /** When, as the server writes it, or as ISO text by the clock of the board. */
  readonly at?: string
  readonly sessions: readonly DeadlockedSession[]
  /** For `counted`: how many there were. */
  readonly count?: number
}

/** A moment of the graph. */
export interface Point {
  /** Milliseconds since 1970, by the clock of the board. */
  readonly at: number
  readonly waiting: number
  readonly holding: number
  readonly longestWaitMs: number
  readonly leases: number
  /** Of all queues together; absent without a queue. */
  readonly claimsPerSecond?: number
}

/** What a page is told when it comes. */
export interface Greeting {
  /** For people, without secrets. */
  readonly title: string
  /** Which sessions may be ended from here. */
  readonly ending: Ending
  readonly history: readonly Point[]
}

/** Whether, and how, a page may end sessions. */
export interface Ending {
  readonly isAllowed: boolean
  readonly ways: readonly EndingWay[]
  /** Why there is no way although it is allowed. */
  readonly reason?: string
}

/** `cancel` ends what a session runs; `end` the session itself. */
export type EndingWay = 'cancel' | 'end'

/** What a page is told after each look. */
export interface News {
  /** The newest look that the database has answered. Absent before the first one. */
  readonly look?: Look
  /** How old it is. */
  readonly ageMs?: number
  /** Why the newest one has failed. Absent when it has not. */
  readonly failure?: Failure
  /** The newest points of the graph: a page may have missed some. */
  readonly points: readonly Point[]
}

export interface Failure {
  readonly message: string
  /** For how long it has been so. */
  readonly forMs: number
}
