import { checkBackoff, type BackoffOptions } from '../../core/backoff.ts'
import { checkDuration, checkName, checkSignal, checkWork, onlyKnown, show } from '../../core/check-field.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { Job } from './job.ts'
import type { Queue } from './queue-definition.ts'
import { listenerOf, warnOf } from './warn.ts'

/** How a worker works. */
export interface WorkOptions<R extends object> {
  /** How many jobs are under way at the same time. @default 1 */
  readonly concurrency?: number
  /** Stops the worker: it claims nothing more, and resolves once its jobs have ended. @default it works for ever */
  readonly signal?: AbortSignal
  /** Who claims, for the column `claim.worker`. */
  readonly worker?: string
  /** For how long a claim keeps others away; it is renewed while the handler runs. @default the queue's own */
  readonly visibilityMs?: number
  /** The longest pause between two looks at a queue that is empty. @default 1000 */
  readonly idleMs?: number
  /**
   * How long a job may take; then it is given up as if it had failed. Without it, a handler that never ends keeps its
   * job for ever.
   *
   * @default as long as it likes
   */
  readonly timeoutMs?: number
  /** How long jobs that are under way may go on when the worker is stopped; then they are given back. @default 30_000 */
  readonly shutdownMs?: number
  /** How long a job that failed is left alone. @default one second at first, a minute at most */
  readonly backoff?: BackoffOptions
  /**
   * Told what a handler threw, and what kept the worker from claiming. What it throws or rejects with itself is a warning.
   *
   * @default a warning of the process, with the job's id, its table, the attempt and the stack
   */
  readonly onError?: (error: unknown, job?: Job<R>) => unknown
}

/** What a worker has done until it was stopped. */
export interface WorkReport {
  /** Jobs that were completed. */
  readonly done: number
  /** Jobs that were given back because their handler failed, or ended them in a transaction that was rolled back. */
  readonly failed: number
  /** Jobs that were no longer this worker's before they ended. */
  readonly lost: number
  /** Jobs that their handler gave back itself, or the worker when it was stopped and they had not finished in time. */
  readonly released: number
}

/** Everything that was left out is filled in. */
export type CheckedWork<R extends object> = Required<
  Omit<WorkOptions<R>, 'signal' | 'worker' | 'timeoutMs' | 'visibilityMs' | 'onError'>
> & {
  /** Never throws. */
  readonly onError: (error: unknown, job?: Job<R>) => void
  readonly signal: AbortSignal | undefined
  readonly worker: string | undefined
  readonly timeoutMs: number | undefined
  readonly visibilityMs: number
}

const known = [
  'concurrency',
  'signal',
  'worker',
  'visibilityMs',
  'idleMs',
  'timeoutMs',
  'shutdownMs',
  'backoff',
  'onError',
]

export function checkWorkOptions<R extends object>(options: WorkOptions<R>, queue: Queue<R>): CheckedWork<R> {
  onlyKnown(options, known)
  const { concurrency = 1, timeoutMs, worker, signal, onError = warnOf(queue), backoff } = options
  if (!Number.isSafeInteger(concurrency) || concurrency < 1 || concurrency > 1000)
    throw new LockUsageError('concurrency', `${show(concurrency)} is not a whole number from 1 to 1000`)
  checkSignal(signal)
  checkWork(onError, 'onError', '(error, job) => { ... }')
  if (backoff !== undefined) checkBackoff(backoff)
  return {
    concurrency,
    signal,
    worker: worker === undefined ? undefined : checkName('worker', worker),
    visibilityMs: checkDuration('visibilityMs', options.visibilityMs ?? queue.visibilityMs),
    idleMs: checkDuration('idleMs', options.idleMs ?? 1000),
    timeoutMs: timeoutMs === undefined ? undefined : checkDuration('timeoutMs', timeoutMs),
    shutdownMs: checkDuration('shutdownMs', options.shutdownMs ?? 30_000),
    backoff: { baseMs: 1000, capMs: 60_000, ...backoff },
    onError: listenerOf(queue, onError),
  }
}
