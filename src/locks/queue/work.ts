import { inWords } from '../../core/in-words.ts'
import { delay } from '../../core/clock.ts'
import { setMaxListeners } from 'node:events'

import { checkWork } from '../../core/check-field.ts'
import { LockUsageError } from '../../core/errors.ts'
import { tellJob } from '../../events/job-story.ts'
import type { JobEvent } from '../../events/shapes.ts'
import { untilAborted } from '../abort.ts'
import { placeOf } from '../event-place.ts'
import { NoConnectionError } from '../open-session.ts'
import type { OpenTransaction } from '../port.ts'
import { joinWorkers } from './announce.ts'
import { attend, type Attendance, type Handler } from './attend.ts'
import { callQueue, type ClaimVisit } from './claim-call.ts'
import { claim, reclaim, unclaim, type ClaimPort, type Taken } from './claim.ts'
import { createIdle } from './idle.ts'
import type { Job } from './job.ts'
import type { Queue } from './queue-definition.ts'
import { textOfTable } from './warn.ts'
import { checkWorkOptions, type CheckedWork, type WorkOptions, type WorkReport } from './work-options.ts'

/** A worker's task. */
export interface Task<R extends object> {
  readonly queue: Queue<R>
  readonly handler: Handler<R>
  readonly options: WorkOptions<R>
}

/**
 * Claims jobs and hands them to the handler, until it is stopped by its signal; then it waits for the jobs under way,
 * and gives back those that take too long.
 *
 * A handler that returns has done its job, unless it ended the job itself. One that throws gives it back, to be claimed
 * again later. Rejects only with {@link LockUsageError}: when the table is not as the queue describes it.
 */
export async function work<Tx, R extends object>(claims: ClaimPort<Tx>, task: Task<R>): Promise<WorkReport> {
  const { queue, handler } = task
  checkWork(handler, 'handler', 'async (job) => { ... }')
  const options = checkWorkOptions(task.options, queue)
  const idle = createIdle(options.idleMs)
  const find = (tx: unknown): OpenTransaction<Tx> => claims.find(tx as Tx)
  const crew = createCrew(options, { queue, handler, find, tell: tellOf(claims, queue), onFree: idle.wake })
  const stopped = options.signal ?? new AbortController().signal
  stopped.addEventListener('abort', idle.wake, { once: true })
  const others = new AbortController()
  const patrol = queue.dead && patrolUntil(others.signal, claims, { queue, options })
  const leave = joinWorkers(claims, queue, idle.wake)
  const stopListening = await listen(claims, queue, { wake: idle.hear, stopped })
  try {
    while (!stopped.aborted) {
      const taken =
        crew.free() === 0 ? undefined : await look(claims, queue, { options, stopped, limit: crew.free() })
      if (stopped.aborted)
        await Promise.all(
          (taken?.jobs ?? []).map((job) =>
            unclaim(claims, queue, job).catch((error: unknown) => options.onError(error, job)),
          ),
        )
      else if (taken !== undefined && taken.jobs.length > 0) crew.start(taken)
      else await idle.wait()
      if (taken !== undefined && taken.jobs.length > 0) idle.reset()
    }
    return await crew.finish()
  } finally {
    stopped.removeEventListener('abort', idle.wake)
    leave()
    others.abort()
    await stopListening?.()
    await patrol
  }
}

type JobRun = (event: JobEvent | undefined) => Promise<keyof WorkReport>

type TellJob<R extends object> = (job: Job<R>, run: JobRun) => ReturnType<JobRun>

function tellOf<Tx, R extends object>({ port }: ClaimPort<Tx>, { shape }: Queue<R>): TellJob<R> {
  return ({ id, attempts }, run) =>
    tellJob(() => ({ ...placeOf(port), queue: textOfTable(shape.table), id, attempts }), run)
}

interface Crew<R extends object> {
  readonly free: () => number
  readonly start: (taken: Taken<R>) => void
  readonly finish: () => Promise<WorkReport>
}

interface CrewTerms<R extends object> extends Pick<Attendance<R>, 'queue' | 'handler' | 'find'> {
  readonly tell: TellJob<R>
  readonly onFree: () => void
}

/** The jobs that are under way. */
function createCrew<R extends object>(
  options: CheckedWork<R>,
  { queue, handler, find, tell, onFree }: CrewTerms<R>,
): Crew<R> {
  const running = new Set<Promise<void>>()
  const report = { done: 0, failed: 0, lost: 0, released: 0 }
  const patience = new AbortController()
  setMaxListeners(0, patience.signal) // one for each job
  return {
    free: () => options.concurrency - running.size,
    start: ({ jobs, sentAt }) => {
      for (const job of jobs) {
        const attendance = { queue, handler, options, find, sentAt, givenUp: patience.signal }
        const attended = tell(job, (event) => attend(job, attendance, event)).then((end) => {
          report[end] += 1
          running.delete(attended)
          onFree()
        })
        running.add(attended)
      }
    },
    finish: async () => {
      const rest = new AbortController()
      const all = Promise.all(running)
      const late = delay(options.shutdownMs, undefined, { signal: rest.signal }).catch(() => {})
      await Promise.race([all, late])
      rest.abort()
      patience.abort()
      await all
      return { ...report }
    },
  }
}

/** A look that fails is no end: the next one may succeed. */
async function look<Tx, R extends object>(
  claims: ClaimPort<Tx>,
  queue: Queue<R>,
  { options, stopped, limit }: Look<R>,
): Promise<Taken<R> | undefined> {
  const { worker, visibilityMs, onError } = options
  const terms = { limit, visibilityMs, ...(worker !== undefined && { worker }) }
  try {
    return await claim(claims, queue, { options: terms, stopped })
  } catch (error) {
    // a pool that is used up now may have a connection for the next look
    if (error instanceof LockUsageError && !(error instanceof NoConnectionError)) throw error
    if (!stopped.aborted) onError(error)
    return undefined
  }
}

interface Look<R extends object> {
  readonly options: CheckedWork<R>
  readonly stopped: AbortSignal
  readonly limit: number
}

/** Puts dead jobs aside from time to time: nobody claims them, so nobody else would see them. */
async function patrolUntil<Tx, R extends object>(
  signal: AbortSignal,
  claims: ClaimPort<Tx>,
  { queue, options }: { readonly queue: Queue<R>; readonly options: CheckedWork<R> },
): Promise<void> {
  while (!signal.aborted) {
    await reclaim(claims, queue, signal).catch((error: unknown) => {
      if (!signal.aborted) options.onError(error)
    })
    const pauseMs = options.visibilityMs * (0.5 + Math.random())
    await delay(pauseMs, undefined, { signal }).catch(() => {})
  }
}

/** Wakes up when there are new jobs, where the engine tells of them. Who cannot listen looks from time to time. */
async function listen<Tx>(
  { port }: ClaimPort<Tx>,
  queue: Queue<object>,
  { wake, stopped }: { readonly wake: () => void; readonly stopped: AbortSignal },
): Promise<(() => Promise<void>) | undefined> {
  const { sessions } = port
  if (sessions.listen === undefined) return undefined
  try {
    const topicOf = async (visit: ClaimVisit): Promise<string | undefined> =>
      visit.claiming.topic?.(queue.shape)
    const topic = await callQueue(port, { queue, work: topicOf, stopped })
    if (topic === undefined) return undefined
    const listening = sessions.listen(topic, wake)
    const leave = (): void => void listening.then((end) => end()).catch(() => {})
    return await untilAborted(listening, stopped, leave)
  } catch (error) {
    if (stopped.aborted) return undefined
    process.emitWarning(`new jobs are not heard of, only looked for: ${inWords(error)}`, 'HoldfastWarning')
    return undefined
  }
}
