import { clearTimeout, setTimeout } from '../../core/clock.ts'
import { backoffMs } from '../../core/backoff.ts'
import { LockLostError } from '../../core/errors.ts'
import { readable } from '../../core/in-words.ts'
import { untilAborted } from '../abort.ts'
import { heartbeat } from './heartbeat.ts'
import type { Job } from './job.ts'
import type { Queue } from './queue-definition.ts'
import type { CheckedWork, WorkReport } from './work-options.ts'

/** Does one job. What it gives back does not matter. */
export type Handler<R extends object> = (job: Job<R> & { readonly signal: AbortSignal }) => unknown

export interface Attendance<R extends object> {
  readonly queue: Queue<R>
  readonly handler: Handler<R>
  readonly options: CheckedWork<R>
  readonly sentAt: number
  /** Aborts when the worker was stopped and its patience is over. */
  readonly givenUp: AbortSignal
}

/** The handler took longer than `timeoutMs`. Its job is released, so what it does from now on comes too late. */
class JobTimeoutError extends LockLostError {}

/**
 * Runs the handler, keeps the job its own meanwhile, and ends the job as the handler ended. Never rejects.
 *
 * A job that is lost is not waited for: its handler is told by the signal, and may go on without a job.
 */
export async function attend<R extends object>(
  job: Job<R>,
  attendance: Attendance<R>,
): Promise<keyof WorkReport> {
  const { handler } = attendance
  const lost = new AbortController()
  const own = ownJob(job, lost.signal)
  const stopWatching = watch(job, attendance, (why) => {
    // the beat of a job that its handler has just ended finds it gone
    if (!own.hasEnded()) lost.abort(why)
  })
  try {
    const handled = (async () => handler(own.job))()
    await untilAborted(handled, lost.signal, () => {})
    stopWatching()
    if (!own.hasEnded()) await job.complete()
    return 'done'
  } catch (thrown) {
    stopWatching()
    const error = readable(thrown)
    attendance.options.onError(error, job)
    const isLost = error instanceof LockLostError && !(error instanceof JobTimeoutError)
    if (isLost && !attendance.givenUp.aborted) return 'lost'
    return giveBack(job, { attendance, hasEnded: own.hasEnded })
  }
}

/** What the handler ended in a transaction may be undone by now, so only the database can tell whether it has ended. */
async function giveBack<R extends object>(
  job: Job<R>,
  { attendance, hasEnded }: { readonly attendance: Attendance<R>; readonly hasEnded: () => boolean },
): Promise<keyof WorkReport> {
  const { options, givenUp } = attendance
  try {
    await job.release({ delayMs: givenUp.aborted ? 0 : backoffMs(job.attempts ?? 1, options.backoff) })
  } catch (error) {
    if (error instanceof LockLostError && hasEnded()) return 'done'
    options.onError(error, job)
  }
  return givenUp.aborted ? 'lost' : 'failed'
}

function watch<R extends object>(
  job: Job<R>,
  { options, sentAt, givenUp }: Attendance<R>,
  lose: (why: LockLostError) => void,
): () => void {
  const { visibilityMs, timeoutMs } = options
  const stopHeart = heartbeat({
    extend: () => job.extend(visibilityMs),
    visibilityMs,
    sentAt,
    onLost: lose,
  })
  const stop = (why: LockLostError): void => {
    stopHeart()
    lose(why)
  }
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => stop(new JobTimeoutError(`the job took longer than ${timeoutMs} ms`)), timeoutMs)
  const onGivenUp = (): void => stop(new LockLostError('the worker has stopped'))
  givenUp.addEventListener('abort', onGivenUp, { once: true })
  return () => {
    stopHeart()
    clearTimeout(timer)
    givenUp.removeEventListener('abort', onGivenUp)
  }
}

/** The job as the handler sees it: it can end the job itself, but not once it is lost. */
function ownJob<R extends object>(
  job: Job<R>,
  signal: AbortSignal,
): { readonly job: Job<R> & { readonly signal: AbortSignal }; readonly hasEnded: () => boolean } {
  let isEnded = false
  const end = async (work: () => Promise<void>): Promise<void> => {
    signal.throwIfAborted()
    await work()
    isEnded = true
  }
  return {
    hasEnded: () => isEnded,
    job: {
      ...job,
      signal,
      complete: (options) => end(() => job.complete(options)),
      release: (options) => end(() => job.release(options)),
      extend: async (visibilityMs) => {
        signal.throwIfAborted()
        await job.extend(visibilityMs)
      },
    },
  }
}
