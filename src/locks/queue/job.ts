import type { Row } from '../../core/statement.ts'

/** A row that this process has claimed, until it is completed, released, or its time is over. */
export interface Job<R extends object = Row> {
  /** The row as it is since the claim. */
  readonly row: R
  /** The value of the column `id` of the queue. */
  readonly id: unknown
  /** The claim's own text. Only whoever has it can complete the job. */
  readonly token: string
  /** How often the job was claimed, this time included; undefined where the queue has no column for it. */
  readonly attempts: number | undefined
  /** Aborts with the reason when the job is no longer this worker's. Only there in `work`. */
  readonly signal?: AbortSignal
  /** Ends the job. Rejects with {@link LockLostError} when it is no longer this claim's. */
  readonly complete: (options?: JobOptions) => Promise<void>
  /** Gives the job back, to be claimed again after the delay. */
  readonly release: (options?: ReleaseOptions) => Promise<void>
  /** Keeps others away for this long from now. @default the queue's `visibilityMs` */
  readonly extend: (visibilityMs?: number) => Promise<void>
}

/** What is needed to end a job; it may have been stored and read again meanwhile. */
export type JobKey = Pick<Job, 'id' | 'token'>

/** How a job is ended. */
export interface JobOptions<Tx = unknown> {
  /**
   * An open transaction of the same locks: the job ends when that commits, together with what it has stored, or not at
   * all.
   */
  readonly tx?: Tx
}

/** How a job is given back. */
export interface ReleaseOptions<Tx = unknown> extends JobOptions<Tx> {
  /** How long nobody gets it. @default 0 */
  readonly delayMs?: number
}

/** What a release can be told. */
export const releaseFields: readonly string[] = ['tx', 'delayMs']
