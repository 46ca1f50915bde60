import type { Finding } from '../core/attestation.ts'
import type { ErrorLike } from '../core/classification.ts'
import type { Deadlock } from '../core/deadlock.ts'
import type { LeaseSeen, SessionSeen } from '../core/inspection.ts'
import type { Target } from '../core/request.ts'
import type { Row, SqlStatement, Statement } from '../core/statement.ts'
import type { Version } from '../core/version.ts'
import type { QueueTable } from './claim.ts'
import type { QueueLook } from './queue-look.ts'

/**
 * What a dialect knows for looking at servers and for proving what they do. Loaded only when it is asked for: those
 * who only take locks do not carry it.
 */
export interface DialectTools {
  readonly inspector: Inspector
  readonly examination: Examination
  readonly fixture: Fixture
  readonly claimIndex: ClaimIndex
  /** Absent where nobody has said how a queue is watched. */
  readonly queueLook?: QueueLook
  /** Absent where nobody waits in the server, so that no circle can close there. */
  readonly deadlocks?: DeadlockReader
}

/** How to find out about a deadlock. `read` is pure, and never throws, whatever the server has answered. */
export interface DeadlockReader {
  /** What the session that has lost is asked, after its rollback and before it gives back the locks that outlive that. */
  readonly questions: (clues: DeadlockClues) => Readonly<Record<string, Question>>
  readonly read: (replies: Replies, clues: DeadlockClues) => DeadlockFound
  /** The newest ones that the server remembers, for somebody who comes later. */
  readonly latest: {
    readonly questions: Readonly<Record<string, Question>>
    readonly read: (replies: Replies) => {
      readonly deadlocks: readonly DeadlockFound[]
      /** How many the server has counted, those included that it does not remember. Absent where it counts none. */
      readonly counted?: number
      readonly unseen: readonly string[]
    }
  }
}

/** A deadlock as a reader of a dialect finds it. */
export type DeadlockFound = Omit<Deadlock, 'dialect'>

/** What the one who has lost knows itself. */
export interface DeadlockClues {
  /** The driver's own error. */
  readonly error: ErrorLike
  /** The texts that were sent in the transaction before it failed. */
  readonly sent: readonly string[]
  /** The one that has failed, where that is known. */
  readonly failed: string | undefined
  /** The statement of ours that has failed, if it is one of ours. */
  readonly own: SqlStatement | undefined
  /** The most that may have passed, until the answers came, since the server has found the deadlock. */
  readonly sinceMs: number
}

/** What a queue's table needs so that a claim reads no rows in vain. */
export interface ClaimIndex {
  /** The index with which a claim does not read rows that are done. None where the engine would not use it. */
  readonly index: (queue: QueueTable, version: Version) => readonly Statement[]
  /** Whether a claim reads rows in vain. Absent where the engine cannot be asked, or reads all in any case. */
  readonly scan?: ScanQuestion
}

export interface ScanQuestion {
  /** Settings for the transaction in which the question is asked; it is rolled back. */
  readonly head?: readonly SqlStatement[]
  readonly ask: (queue: QueueTable) => Statement
  /** What is wrong with the plan in the answer, in words; undefined when all is well. */
  readonly problem: (rows: readonly Row[], queue: QueueTable) => string | undefined
}

/** A statement, and what stays unknown when the server does not answer it. */
export interface Question {
  readonly ask: Statement
  readonly unknown: string
  /**
   * The name of an earlier question of the same list. When that one gave no row, this one is not asked, and its answer
   * is no row either: a table that nobody has made is no secret.
   */
  readonly onlyIf?: string
}

/** The rows that answered each question; undefined where the server refused. */
export type Replies = Readonly<Record<string, readonly Row[] | undefined>>

/** How to see who holds and who waits. All questions are asked on one connection, in their order. */
export interface Inspector {
  readonly questions: (scope: 'database' | 'server', version: Version) => Readonly<Record<string, Question>>
  readonly read: (replies: Replies) => {
    readonly sessions: readonly SessionSeen[]
    readonly leases: readonly LeaseSeen[]
    /** What the answers leave out, in words: a server can answer with less than there is. */
    readonly unseen?: readonly string[]
  }
  /** What this engine never shows, in words; empty where it shows everything. */
  readonly blindSpots: readonly string[]
  /** Whether a session that waits for a lock can be seen from another one. False where nobody waits in the server. */
  readonly showsWaiting: boolean
  /** Tells, in the column `id`, what the server calls the session that asks. Absent where it has no name. */
  readonly self?: Statement
  /** Ends another session from the server's side. Absent where there is no server. Throws for an id that is none. */
  readonly kill?: (id: string) => Statement
  /** Ends only what another session runs now; its transaction is left to it. Absent where the engine has no such call. */
  readonly cancel?: (id: string) => Statement
}

/** What to ask a server about itself, and what the answers mean for locks. */
export interface Examination {
  readonly questions: (version: Version) => Readonly<Record<string, Question>>
  readonly read: (replies: Replies, version: Version) => readonly Finding[]
  /** Reads what only the driver's own handle tells, for `read` as the row `handle`. Undefined for other handles. */
  readonly handle?: (tx: unknown) => Row | undefined
  /**
   * Gives one row for each column of each index of a table, in order: `index_name` and `column_name`. A table without
   * an index gives one row of nulls, and one that is not there gives none.
   */
  readonly indexes: (table: string) => Statement
  /** A row of the table of leases by its name: something of our own to lock, which is then removed. */
  readonly leaseRow: {
    readonly target: (name: string) => Target
    readonly remove: (name: string) => Statement
    /** The names of further rows of the table, which are there once such a row was locked. */
    readonly guards?: readonly string[]
  }
  /** How the table of leases is dropped when it is empty. Absent where a row could come in between. */
  readonly leaseTable?: LeaseTable
}

/** Statements for one transaction: nobody can put a row into the table between `anyRow` and `drop`. */
export interface LeaseTable {
  /** As a transaction begins that keeps others out. */
  readonly begin?: string
  readonly lock?: readonly Statement[]
  /** Gives a row where there is any. */
  readonly anyRow: Statement
  readonly drop: Statement
  /** After the transaction. */
  readonly unlock?: readonly Statement[]
}

/** A small table to try locks on: a number for each id. Names are plain words, quoted all the same. */
export interface Fixture {
  readonly create: (table: string) => Statement
  /** The columns of a work queue: id, n, state, claim_token, claimed_until, claimed_by, attempts. */
  readonly createQueue: (table: string) => Statement
  readonly drop: (table: string) => Statement
  readonly insert: (table: string, row: Readonly<Record<string, string | number | null>>) => Statement
  /** Gives the row's number as `n`; no row when there is none. */
  readonly read: (table: string, id: number) => Statement
  /** Gives all rows, in the order of their ids. */
  readonly all: (table: string) => Statement
  readonly write: (table: string, id: number, n: number) => Statement
  readonly delete: (table: string, id: number) => Statement
  /** Adds to the number in one statement. */
  readonly add: (table: string, id: number, by: number) => Statement
  readonly target: (table: string, ids: number | readonly number[]) => Target
  /** Gives, as `name` and `value`, the settings of a session that locks may change. Absent where a session has none. */
  readonly settings?: Statement
}
