import { show } from '../../core/check-field.ts'
import { LockUsageError } from '../../core/errors.ts'
import { asItIs } from '../../core/on-demand.ts'
import type { Handler } from './attend.ts'
import type { ClaimOptions, ClaimPort, Reclaimed } from './claim.ts'
import { endOptions } from './end-options.ts'
import type { Enqueued, EnqueueOptions } from './enqueue.ts'
import type { IndexAdvice } from './index-advice.ts'
import { releaseFields, type Job, type JobKey, type JobOptions, type ReleaseOptions } from './job.ts'
import type { NewJob } from './new-jobs.ts'
import type { OpenTransaction, Port } from '../port.ts'
import type { Queue } from './queue-definition.ts'
import * as seldom from '../seldom.ts'
import { partOf, stepsOf } from '../transaction/part.ts'
import type { Row } from '../../core/statement.ts'
import type { WorkOptions, WorkReport } from './work-options.ts'
import type { QueueStats } from './stats.ts'

/** Work queues in tables of yours. */
export interface Claims<Tx> {
  /**
   * Stores jobs and wakes workers; with `tx`, both when that commits. All are stored, or none.
   *
   * A job with a value in the column `claim.unique` is not stored while another one with it waits to be claimed. Rejects
   * with {@link LockUsageError}, and stores nothing, where that column has no unique index.
   *
   * @example
   * import { queue } from 'holdfast/pg'
   *
   * const jobs = queue({
   *   table: 'job',
   *   id: 'id',
   *   orderBy: 'id',
   *   where: { state: 'ready' },
   *   claim: { token: 'claim_token', until: 'claimed_until' },
   *   done: 'delete',
   * })
   * const { stored } = await locks.enqueue(jobs, [
   *   { id: 8, priority: 0, attempts: 0, payload: 'welcome' },
   *   { id: 9, priority: 0, attempts: 0, payload: 'report' },
   * ])
   * stored // => [8, 9]
   */
  readonly enqueue: <R extends object>(
    queue: Queue<R>,
    jobs: NewJob<NoInfer<R>> | readonly NewJob<NoInfer<R>>[],
    options?: EnqueueOptions<Tx>,
  ) => Promise<Enqueued>
  /**
   * Claims jobs: each goes to one caller only, in the queue's order. Returns none when none is free.
   *
   * A job that is neither completed nor released comes back when its time is over.
   *
   * @example
   * import { queue } from 'holdfast/pg'
   *
   * const jobs = queue({
   *   table: 'job',
   *   id: 'id',
   *   orderBy: 'id',
   *   claim: { token: 'claim_token', until: 'claimed_until' },
   *   done: 'delete',
   * })
   * const [job] = await locks.claim(jobs, { worker: 'mailer-1' })
   * job?.id // => 1
   * await job?.complete()
   */
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
    options?: JobOptions<Tx>,
  ) => Promise<void>
  /** Gives a job back, to be claimed again after a delay. Rejects with {@link LockLostError} when it is no longer this claim's. */
  readonly release: (queue: Queue<object>, job: JobKey, options?: ReleaseOptions<Tx>) => Promise<void>
  /** Keeps others away from a job for this long from now. Rejects with {@link LockLostError} when it is no longer this claim's. */
  readonly extend: (queue: Queue<object>, job: JobKey, visibilityMs?: number) => Promise<void>
  /** Frees the jobs of workers that did not finish in time, and puts aside those that were claimed too often. */
  readonly reclaim: (queue: Queue<object>) => Promise<Reclaimed>
  /**
   * Claims jobs and hands them to the handler, until the signal stops it. A job whose handler throws is given back.
   *
   * @example
   * import { queue } from 'holdfast/pg'
   *
   * const jobs = queue({
   *   table: 'job',
   *   id: 'id',
   *   orderBy: 'id',
   *   claim: { token: 'claim_token', until: 'claimed_until' },
   *   done: 'delete',
   * })
   * const stop = new AbortController()
   * const report = await locks.work(jobs, async () => stop.abort(), { signal: stop.signal })
   * report // => { done: 1, failed: 0, lost: 0, released: 0 }
   */
  readonly work: <R extends object>(
    queue: Queue<R>,
    handler: Handler<R>,
    options?: WorkOptions<R>,
  ) => Promise<WorkReport>
  /**
   * Counts the jobs that are ready, delayed, claimed and dead, by the server's clock. It reads all rows of the queue:
   * call it for a dashboard or an alert, not for every job.
   *
   * @example
   * import { queue } from 'holdfast/pg'
   *
   * const jobs = queue({
   *   table: 'job',
   *   id: 'id',
   *   orderBy: 'id',
   *   claim: { token: 'claim_token', until: 'claimed_until' },
   *   done: 'delete',
   * })
   * const { ready } = await locks.stats(jobs)
   * ready // => 5
   */
  readonly stats: (queue: Queue<object>) => Promise<QueueStats>
  /** The index that claims need, and whether they read in vain without it. */
  readonly adviseIndexes: (queue: Queue<object>) => Promise<IndexAdvice>
  /**
   * Wakes workers that pause because the queue was empty: those of these locks, and on some engines those of all
   * processes. Call it after new jobs were stored; with `tx`, they are woken when that commits.
   */
  readonly announce: (queue: Queue<object>, options?: JobOptions<Tx>) => Promise<void>
}

export function createClaims<Tx>(
  port: Port<Tx>,
  find: (tx: Tx) => OpenTransaction<Tx> = unknownTransaction,
): Claims<Tx> {
  const claims: ClaimPort<Tx> = { port, find, wakers: new Map(), indexed: new WeakSet() }
  return {
    enqueue: async (queue, jobs, options) => {
      const tx = endOptions(claims, options)?.tx
      const open = tx === undefined ? undefined : find(tx)
      const list = (isList(jobs) ? jobs : [jobs]).map((job) => copied(job as Row))
      const store = (): Promise<Enqueued> =>
        seldom.enqueuing(async ({ enqueue }) => enqueue(claims, checked(queue), { jobs: list, open }))
      return open === undefined ? store() : partOf(open, store)
    },
    claim: async (given, asked) => {
      const [queue, options] = [checked(given), asItIs(asked)]
      return (await seldom.claims(({ claim }) => claim(claims, queue, { options }))).jobs
    },
    ...createEnds(claims),
    reclaim: async (given, ...more) => {
      const queue = alone(given, more)
      return seldom.claims(({ reclaim }) => reclaim(claims, queue))
    },
    work: async (given, handler, asked = {}) => {
      const [queue, options] = [checked(given), asItIs(asked)]
      return seldom.claims(({ work }) => work(claims, { queue, handler, options }))
    },
    stats: async (given, ...more) => {
      const queue = alone(given, more)
      return seldom.claims(({ stats }) => stats(claims, queue))
    },
    adviseIndexes: async (given, ...more) => {
      const queue = alone(given, more)
      return seldom.claims(({ adviseIndexes }) => adviseIndexes(port, queue))
    },
  }
}

type Ends<Tx> = Pick<Claims<Tx>, 'complete' | 'release' | 'extend' | 'announce'>

type Call = <T>(tx: unknown, use: Parameters<typeof seldom.claims<T>>[0]) => Promise<T>

/** The calls about jobs that there are. With `tx` they count as a part of that while their code is loaded. */
function createEnds<Tx>(claims: ClaimPort<Tx>): Ends<Tx> {
  const call: Call = (tx, use) =>
    tx === undefined ? seldom.claims(use) : stepsOf(claims.find(tx as Tx), () => seldom.claims(use))
  return {
    complete: async (given, jobs, options) => {
      const terms = endOptions(claims, options)
      const [queue, tx] = [checked(given), terms?.tx]
      if (!isList(jobs)) {
        const job = { tx, ...keyOf(jobs) }
        return call(tx, ({ complete }) => complete(claims, queue, job))
      }
      const ended = { tx, jobs: jobs.map(keyOf) }
      return call(tx, ({ completeAll }) => completeAll(claims, queue, ended))
    },
    release: async (given, job, options) => {
      const queue = checked(given)
      const ended = { ...endOptions(claims, options, releaseFields), ...keyOf(job) }
      return call(ended.tx, ({ release }) => release(claims, queue, ended))
    },
    extend: async (given, job, visibilityMs) => {
      const [queue, kept] = [checked(given), { ...keyOf(job), visibilityMs }]
      return seldom.claims(({ extend }) => extend(claims, queue, kept))
    },
    announce: async (given, options) => {
      const [queue, terms] = [checked(given), { tx: endOptions(claims, options)?.tx }]
      return call(terms.tx, ({ announce }) => announce(claims, queue, terms))
    },
  }
}

function checked<R extends object>(given: Queue<R>): Queue<R> {
  if (typeof given === 'object' && given !== null && 'shape' in given) return given
  throw new LockUsageError('queue', `is not a queue: pass what queue({ table, ... }) gives`)
}

/** The queue of a call that takes nothing else: a `tx` in vain would be one that is not kept to. */
function alone(queue: Queue<object>, more: readonly unknown[]): Queue<object> {
  if (more.every((one) => one === undefined)) return checked(queue)
  throw new LockUsageError('options', 'are not taken here: this call is no part of a transaction')
}

/** A job as it is now: the caller may go on to change it. What has no columns is refused later, so it stays what it is. */
function copied(job: Row): Row {
  const hasColumns = typeof job === 'object' && job !== null && Object.keys(job).length > 0
  return hasColumns && !Array.isArray(job) ? { ...job } : job
}

function keyOf(job: JobKey): JobKey {
  if (typeof job !== 'object' || job === null)
    throw new LockUsageError(
      'job',
      `${show(job)} is not a job: pass one that claim gave, or its { id, token }`,
    )
  return { id: job.id, token: job.token }
}

function isList<T>(jobs: T | readonly T[]): jobs is readonly T[] {
  return Array.isArray(jobs)
}

function unknownTransaction(): never {
  throw new LockUsageError('tx', 'these claims know no transactions')
}
