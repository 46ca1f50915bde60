import type { TableName } from '../core/request.ts'
import type { Row, Statement, Value } from '../core/statement.ts'
import type { Version } from '../core/version.ts'

/** One column of the order in which jobs are claimed. */
export interface QueueOrder {
  readonly column: string
  readonly direction: 'asc' | 'desc'
}

/** A column that has one of these values; null among them stands for a column that is empty. */
export interface QueueCondition {
  readonly column: string
  readonly values: readonly Value[]
}

/** The user's own table as a queue, checked. */
export interface QueueTable {
  readonly table: TableName
  readonly id: string
  /** Ends with the id, so that no two rows are equal in it. */
  readonly order: readonly QueueOrder[]
  readonly where: readonly QueueCondition[]
  /** Who has claimed the row: a text of its own for each claim call, null when nobody has. */
  readonly token: string
  /** Until when nobody else may claim it: milliseconds since 1970 by the server's clock, null for a row that is free. */
  readonly until: string
  readonly worker?: string
  readonly attempts?: string
  /** What at most one row that nobody has claimed may have; every claim empties it. */
  readonly unique?: string
  /** A row that was claimed that often is claimed no more. Only where there is a column of attempts. */
  readonly maxAttempts?: number
}

export type Changes = Readonly<Record<string, Value>>

/** What a claim call writes into the rows that it gets. */
export interface ClaimTerms {
  readonly token: string
  readonly worker: string | undefined
  readonly limit: number
  readonly visibilityMs: number
}

/** One row of one claim. */
export interface HeldClaim {
  readonly id: Value
  readonly token: string
  /** Whether the claim ends in a transaction of the caller: some engines then want the statement in another form. */
  readonly inTransaction?: boolean
}

/** Several rows of one claim, no more than {@link maxHeld}. */
export interface HeldClaims extends Omit<HeldClaim, 'id'> {
  readonly ids: readonly Value[]
}

/** Below the number of parameters that any engine takes, and of rows at which SQL Server locks the whole table. */
export const maxHeld = 1000

/** The column with the text of an id for which JavaScript has no value; null in all other rows. */
export const exactIdColumn = 'holdfast_id'

/** How the claims on several rows end at once. The ids of those that were still held are told in the column of the id. */
export interface EndPlan {
  readonly change: Statement
  /**
   * Tells the ids, and keeps those rows as they are until the end of the transaction in which the change follows.
   * Absent where the change tells them itself.
   */
  readonly look?: Statement
}

/**
 * How rows are claimed: steps that are sent in their order on one session, outside of a transaction. The rows of the
 * last one are the jobs.
 *
 * A step that is a function is told the rows of the first step: there others may be faster, so jobs that were seen
 * first and not got in the end are looked for again. When none was seen it is not asked, and nothing is claimed.
 */
export interface TakePlan {
  readonly steps: readonly TakeStep[]
  /** Reads the ids of the jobs in the queue's order. Absent where the jobs come in that order by themselves. */
  readonly arrange?: Statement
}

export type TakeStep = Statement | ((seen: readonly Row[]) => Statement)

/** Statements that are sent in their order on one session; the rows of the last one tell how many rows were changed. */
export interface Counted {
  readonly statements: readonly Statement[]
  readonly count: (rows: readonly Row[]) => number
}

/** How many jobs there are, by what can become of them. */
export type JobCounts = Readonly<Record<'ready' | 'delayed' | 'claimed' | 'spent', number>>

/** A question after numbers. */
export interface Tally<Numbers> {
  readonly statement: Statement
  readonly read: (rows: readonly Row[]) => Numbers
}

/** What becomes of rows that were claimed too often. */
export interface Burial {
  readonly set: Changes
  readonly limit: number
}

/**
 * Claims on rows of a table that belongs to the user, by the server's clock alone.
 *
 * Every single statement is atomic. A row is claimable when `where` matches, its `until` is null or past, and it was
 * not claimed too often.
 */
export interface ClaimStatements {
  readonly take: (queue: QueueTable, terms: ClaimTerms, version: Version) => TakePlan
  /** Ends the claim: the row gets these values, or is deleted. Changes nothing unless the row still has the token. */
  readonly complete: (queue: QueueTable, held: HeldClaim, change: Changes | 'delete') => Counted
  /**
   * Ends several claims, as `complete` does one. Absent where the engine cannot tell which rows it has changed: there
   * they are ended one by one.
   */
  readonly completeAll?: (queue: QueueTable, held: HeldClaims, change: Changes | 'delete') => EndPlan
  /** Gives the row back, to be claimed again after the delay. Changes nothing unless the row still has the token. */
  readonly release: (queue: QueueTable, held: HeldClaim, delayMs: number) => Counted
  /** Gives the row back as if it had not been claimed, the attempt included. Changes nothing unless the row still has the token. */
  readonly unclaim: (queue: QueueTable, held: HeldClaim) => Counted
  /** Moves the end of the claim to this long from now. Changes nothing unless the row still has the token. */
  readonly extend: (queue: QueueTable, held: HeldClaim, visibilityMs: number) => Counted
  /** Frees rows whose claim has run out, at most `limit` where the engine can count. */
  readonly giveBack: (queue: QueueTable, limit: number, version: Version) => Counted
  /** Changes rows that nobody has and that were claimed too often. */
  readonly bury: (queue: QueueTable, burial: Burial, version: Version) => Counted
  /** Counts the rows that `where` matches: free, free later, had by somebody, and free but claimed too often. */
  readonly tally: (queue: QueueTable) => Tally<JobCounts>
  /** Counts the rows that meet these conditions: those that were claimed too often, and put aside. */
  readonly tallyDead: (queue: QueueTable, looks: readonly QueueCondition[]) => Tally<number>
  /**
   * An id as it is sent back, from the text in {@link exactIdColumn}. Absent where no such column is asked for.
   */
  readonly exactId?: (text: string) => Value
  /** The codes by which the engine says that the table, or a column of it, is not there. */
  readonly misfits: readonly string[]
  /** What `Sessions.listen` is given to hear of new jobs, where the engine can tell. */
  readonly topic?: (queue: QueueTable) => string
  /** Tells those who listen to the topic that there are new jobs. */
  readonly announce?: (queue: QueueTable) => Statement
}

/** For engines whose changes answer with the changed rows. */
export function countRows(rows: readonly Row[]): number {
  return rows.length
}

/** For engines that are asked for the number, in the column `n`. */
export function countIn(rows: readonly Row[]): number {
  return Number(rows[0]?.n ?? 0)
}

/** Engines give a sum as a number, a bigint or a text, and of no rows as null. */
export function readCounts([row]: readonly Row[]): JobCounts {
  const [ready, delayed, claimed, spent] = [row?.ready, row?.delayed, row?.claimed, row?.spent].map((sum) =>
    Number(sum ?? 0),
  ) as [number, number, number, number]
  return { ready, delayed, claimed, spent }
}
