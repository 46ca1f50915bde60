import { LockUsageError } from '../../core/errors.ts'
import type { Handler } from './attend.ts'
import { callQueue } from './claim-call.ts'
import {
  claim,
  complete,
  extend,
  reclaim,
  release,
  type ClaimOptions,
  type ClaimPort,
  type Reclaimed,
} from './claim.ts'
import { completeAll } from './complete-all.ts'
import { adviseIndexes, type IndexAdvice } from './index-advice.ts'
import type { Job, JobKey, JobOptions, ReleaseOptions } from './job.ts'
import type { OpenTransaction, Port } from '../port.ts'
import type { Queue } from './queue-definition.ts'
import type { WorkOptions, WorkReport } from './work-options.ts'
import { work } from './work.ts'

/** Work queues in tables of yours. */
export interface Claims<Tx> {
  /** Claims jobs: each goes to one caller only, in the queue's order. Gives none when none is free. */
  readonly claim: <R extends object>(queue: Queue<R>, options?: ClaimOptions) => Promise<readonly Job<R>[]>
  /**
   * Ends a job. Rejects with {@link LockLostError} when it is no longer this claim's.
   *
   * Of many jobs, those that still are end all the same, in few round trips; the error is then a {@link JobsLostError},
   * which says of which jobs it speaks.
   */
  readonly complete: (
    queue: Queue<object>,
    jobs: JobKey | readonly JobKey[],
    options?: TxOption<Tx, JobOptions>,
  ) => Promise<void>
  /** Gives a job back, to be claimed again after the delay. Rejects as `complete` does. */
  readonly release: (
    queue: Queue<object>,
    job: JobKey,
    options?: TxOption<Tx, ReleaseOptions>,
  ) => Promise<void>
  /** Keeps others away from a job for this long from now. Rejects as `complete` does. */
  readonly extend: (queue: Queue<object>, job: JobKey, visibilityMs?: number) => Promise<void>
  /** Frees the jobs of workers that did not finish in time, and puts aside those that were claimed too often. */
  readonly reclaim: (queue: Queue<object>) => Promise<Reclaimed>
  /** Claims jobs and hands them to the handler, until the signal stops it. */
  readonly work: <R extends object>(
    queue: Queue<R>,
    handler: Handler<R>,
    options?: WorkOptions<R>,
  ) => Promise<WorkReport>
  /** The index that claims need, and whether they read in vain without it. */
  readonly adviseIndexes: (queue: Queue<object>) => Promise<IndexAdvice>
  /** Wakes workers that pause because the queue was empty, where the engine can: after new jobs were stored. */
  readonly announce: (queue: Queue<object>) => Promise<void>
}

type TxOption<Tx, Options> = Omit<Options, 'tx'> & { readonly tx?: Tx }

export function createClaims<Tx>(
  port: Port<Tx>,
  find: (tx: Tx) => OpenTransaction<Tx> = unknownTransaction,
): Claims<Tx> {
  const claims: ClaimPort<Tx> = { port, find }
  return {
    claim: async (queue, options) => (await claim(claims, queue, { options })).jobs,
    complete: (queue, jobs, options) =>
      isList(jobs)
        ? completeAll(claims, queue, { ...options, jobs })
        : complete(claims, queue, { ...options, id: jobs.id, token: jobs.token }),
    release: (queue, { id, token }, options) => release(claims, queue, { ...options, id, token }),
    extend: (queue, { id, token }, visibilityMs) => extend(claims, queue, { id, token, visibilityMs }),
    reclaim: (queue) => reclaim(claims, queue),
    work: (queue, handler, options = {}) => work(claims, { queue, handler, options }),
    adviseIndexes: (queue) => adviseIndexes(port, queue),
    announce: (queue) =>
      callQueue(port, {
        queue,
        work: async ({ session, dialect }) => {
          const statement = dialect.claim.announce?.(queue.shape)
          if (statement !== undefined) await session.run(statement)
        },
      }),
  }
}

function isList(jobs: JobKey | readonly JobKey[]): jobs is readonly JobKey[] {
  return Array.isArray(jobs)
}

function unknownTransaction(): never {
  throw new LockUsageError('tx', 'these claims know no transactions')
}
