import type { LockKey } from './lock-key.ts'

/** Who holds and who waits at one moment: the same shape for every database. */
export interface Inspection {
  /** The name of the dialect, such as `postgres`. */
  readonly dialect: string
  /** The server's version. */
  readonly version: string
  /** Every session that holds or waits for something, but for the one that looked. */
  readonly sessions: readonly SessionSeen[]
  /** Leases that somebody holds, and locks that are kept as leases. */
  readonly leases: readonly LeaseSeen[]
  /** What could not be seen, and why: missing rights, or a database that does not show it. */
  readonly unseen: readonly string[]
}

/** One connection as the server sees it. */
export interface SessionSeen {
  /** What the server calls it: a process number, a connection id. */
  readonly id: string
  /** The user it is logged in as. */
  readonly user?: string
  /** What the client calls itself, where it says so. */
  readonly application?: string
  /** What it does now. `idle-in-transaction` holds its locks and runs nothing. */
  readonly state: 'waiting' | 'active' | 'idle-in-transaction' | 'idle'
  /** For how long its transaction has been open, by the server's clock. */
  readonly transactionMs?: number
  /** What it runs, or ran last. */
  readonly statement?: string
  /** The locks that it holds. */
  readonly holds: readonly LockSeen[]
  /** What it waits for, if it waits. */
  readonly waits?: WaitSeen
}

/** What a session waits for, and for whom. */
export interface WaitSeen {
  /** The lock that it waits for. */
  readonly lock: LockSeen
  /** For how long it has been waiting, by the server's clock. */
  readonly waitedMs?: number
  /** The sessions it waits for, by their ids. */
  readonly blockedBy: readonly string[]
}

/** `transaction` is the end of another transaction, which is how some engines wait for a row. */
export type LockKind = 'row' | 'table' | 'name' | 'transaction' | 'metadata' | 'database'

/** A lock that a session holds or waits for. */
export interface LockSeen {
  /** What kind of thing is locked. */
  readonly kind: LockKind
  /** The server's own word for the mode. */
  readonly mode: string
  /** What is locked, as people would say it: `table app.account`, `a row of app.account`, `name 8412...`. */
  readonly on: string
  /** The readable part of Holdfast's key, where it is known. */
  readonly key?: string
}

/** A lease, or a lock that is kept as a lease, as it stands in its table. */
export interface LeaseSeen {
  /** As it stands in the table. */
  readonly name: string
  /** The readable part of Holdfast's key. */
  readonly key: string
  /** Undefined when it was given back, and `holdAtLeastMs` keeps it from others still. */
  readonly owner: string | undefined
  /** The fencing token of the holder. */
  readonly fence: number
  /** Until it ends by the server's clock; below 0 when it is over and nobody has taken it. */
  readonly remainingMs: number
}

/** What `locks.inspect` looks at. */
export interface InspectOptions {
  /** The database of the connection, or everything that the server shows. @default 'database' */
  readonly scope?: 'database' | 'server'
  /**
   * Keys that others may have taken. A server that knows a lock only by a number cannot tell its key; whoever knows the
   * key can tell the number. The keys that this process has asked for are tried anyway.
   */
  readonly keys?: readonly LockKey[]
  /** Ends the look; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal
}
