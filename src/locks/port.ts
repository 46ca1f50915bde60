import type { Deadline } from '../core/deadline.ts'
import type { Receipt } from '../core/receipt.ts'
import type { Isolation } from '../core/request.ts'
import type { Session, Sessions } from '../core/session.ts'
import type { Statement } from '../core/statement.ts'
import type { Version } from '../core/version.ts'
import type { Dialect } from '../dialects/dialect.ts'
import type { LeaseKeeper } from '../dialects/lease.ts'
import type { LockStory } from '../events/lock-story.ts'
import type { TransactionEvent } from '../events/shapes.ts'
import type { StatementStories } from '../events/statement-story.ts'

/** A database as the lock algorithms see it: what it speaks, and where its connections come from. */
export interface Port<Tx> {
  readonly sessions: Sessions<Tx>
  /** What the server is: told by the caller, or asked of the server once. */
  readonly server: AskServer
}

export interface AskServer {
  (session: Pick<Session, 'run'>): Server | Promise<Server>
  /** The name of the dialect, as far as it is known without asking. */
  readonly dialect?: () => string | undefined
  /** What it may be, as far as that is known without asking. */
  readonly candidates?: readonly Dialect[]
}

export interface Server {
  readonly dialect: Dialect
  readonly version: Version
}

/** What keeps a lease that is not in the database. */
export interface KeptElsewhere {
  readonly name: string
  /** What the names begin with under which a database keeps its fences: `hr:` and 16 letters. */
  readonly mark: string
}

/** As much of a port as leases need: a database, or what keeps leases and nothing else. */
export interface LeasePort {
  /** What keeps the leases, where that is no database: transactions elsewhere then compare their fences. */
  readonly keeper?: KeptElsewhere
  readonly sessions: LeaseSessions
  readonly server: AskLeaseServer
}

/** A connection, or a part in one, for a single request. */
export type LeaseSession = Pick<Session, 'run' | 'release' | 'destroy'>

export type LeaseSessions = Pick<Sessions, 'adapter' | 'lane' | 'isOneConnection' | 'listen'> & {
  readonly open: () => Promise<LeaseSession>
}

export interface AskLeaseServer extends Pick<AskServer, 'dialect'> {
  (session: LeaseSession): LeaseServer | Promise<LeaseServer>
  readonly candidates?: readonly LeaseKeeper[]
}

export interface LeaseServer {
  readonly dialect: LeaseKeeper
}

/** The limit of a transaction for every lock that has none of its own, and by which word it was asked for. */
export interface LockLimit {
  readonly ms: number | undefined
  readonly lockTimeoutMs?: number | undefined
  readonly budgetMs?: number | undefined
}

/** A transaction that is under way, for those who are given its `tx`. */
export interface OpenTransaction<Tx> extends Server {
  readonly session: Session<Tx>
  readonly signal: AbortSignal | undefined
  readonly access: 'read-write' | 'read-only'
  /** As it was asked for. */
  readonly lockTimeoutMs: number | undefined
  /** What the server ends each wait for a lock by that has no time of its own. */
  readonly limit: LockLimit
  /** What was left of the time for the whole call as this attempt began. */
  readonly leftMs: number
  /** As it was asked for or found out; on some engines the right lock depends on it. */
  isolation: Isolation | undefined
  /** Until when BEGIN may wait, where it is BEGIN that takes the lock. */
  readonly deadline: Deadline
  /** The session is in a state that nobody knows: it must not go back to the pool. */
  readonly doubt: (why: unknown) => void
  readonly isInDoubt: () => boolean
  /** Gives the session up before the transaction's end is known: whoever asks about that may need its place in the pool. */
  readonly giveUp: (why: unknown) => void
  /** Settles when the server has begun it; told only where the work does not wait for that. */
  begun: Promise<unknown> | undefined
  /** The named locks that it holds, by the text that tells them apart. */
  readonly named: Map<string, Receipt>
  /** Of those, the ones that a return to a savepoint gives up, by the same text. */
  joined: Map<string, JoinedLock> | undefined
  /** The names of those that it may have given up so. */
  unsure: Set<string> | undefined
  /** The tables that it has locked as it began, by the text that tells them apart. */
  tables: Map<string, HeldTable> | undefined
  /** Whether it can use no table but those. */
  isConfined: boolean
  /** The last of its lock calls that has not ended. */
  locking: Promise<unknown> | undefined
  /** Its calls of `locks` that have not ended. */
  parts: Set<Promise<unknown>> | undefined
  /** What such calls have rejected with. */
  refusals: unknown[] | undefined
  /** The same since the work has returned. */
  late: unknown[] | undefined
  /** Why it must not be committed, whatever the work makes of it. */
  doom: { readonly why: unknown } | undefined
  /** Whether the work has been called: from there on an error may be the work's own. */
  isAtWork: boolean
  /** Called when the work has ended, before the transaction does. Undefined from then on. */
  onLeave: (() => void)[] | undefined
  /** Whether COMMIT has stored it, as far as is known. */
  isStored: boolean
  /** Called when it has. */
  onStored: (() => void)[] | undefined
  /** What those are told who listen to transactions. Undefined where nobody does. */
  readonly event: TransactionEvent | undefined
  /** What events call the locks' adapter. */
  readonly adapter: string
  /** Tells of its statements. Undefined where nobody listens, and where the adapter does not show them. */
  statements: StatementStories | undefined
  /** Of its locks, those that somebody listens to. */
  stories: LockStory[] | undefined
  /** There once its locks have ended: a lock that is answered only now has ended as well. */
  storiesEnd: { readonly isLost: boolean } | undefined
  /** What gives back the locks that outlive the transaction, sent once it has ended: in the opposite order. */
  readonly atEnd: Statement[]
}

/** A table that a transaction has locked as it began. */
export interface HeldTable {
  readonly receipt: Receipt
  readonly blocksReaders: boolean
}

/** A named lock that was taken while the work was under way. */
export interface JoinedLock {
  /** Where the transaction stood among its savepoints when the lock was granted. */
  readonly at: number
  isGivenUp: boolean
  /** Called when it is given up. */
  readonly tell: (() => void)[]
}
