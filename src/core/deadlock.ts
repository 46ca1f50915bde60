import type { LockSeen, WaitSeen } from './inspection.ts'

/**
 * A deadlock as the server tells of it: who waited for what, and who held it. The same shape for every database.
 *
 * Published on the channel `holdfast:deadlock` of `node:diagnostics_channel`, for those who listen there.
 */
export interface Deadlock {
  /** The name of the dialect, such as `postgres`. */
  readonly dialect: string
  /** When the server found it, as the server writes it; where that is not told, absent. */
  readonly at?: string
  /** Those who waited for one another, from the victim on: each for the next one, the last for the victim. Empty where nobody tells. */
  readonly sessions: readonly DeadlockedSession[]
  /** What could not be found out, and why: missing rights, or a report that the server does not have. */
  readonly unseen: readonly string[]
}

/** One of those who waited for one another. */
export interface DeadlockedSession {
  /** What the server calls it: a process number, a connection id. */
  readonly id: string
  /** Whether the server has ended its transaction, so that the others could go on. False for all where it does not tell. */
  readonly isVictim: boolean
  /** The user it was logged in as. */
  readonly user?: string
  /** What the client calls itself, where it says so. */
  readonly application?: string
  /** The lock that it waited for, and those who held it, by their ids. */
  readonly waits?: WaitSeen
  /** The locks that it held and that are known. */
  readonly holds: readonly LockSeen[]
  /** What it ran while it waited, with the values that stand in its text, and without its parameters. */
  readonly statement?: string
  /** What it had run before in its transaction, as far as this process has sent it: the first ones and the last. */
  readonly ran?: readonly string[]
}
