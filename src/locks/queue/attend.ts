import { clearTimeout, setTimeout } from '../../core/clock.ts'
import { backoffMs } from '../../core/backoff.ts'
import { LockLostError } from '../../core/errors.ts'
import { readable } from '../../core/in-words.ts'
import { noteFailure } from '../../events/failure.ts'
import { note } from '../../events/note.ts'
import type { JobEvent } from '../../events/shapes.ts'
import { untilAborted } from '../abort.ts'
import type { OpenTransaction } from '../port.ts'
import { heartbeat, type Heartbeat } from './heartbeat.ts'
import type { Job } from './job.ts'
import type { Queue } from './queue-definition.ts'
import type { CheckedWork, WorkReport } from './work-options.ts'

/** Does one job. What it gives back does not matter. */
export type Handler<R extends object> = (job: Job<R> & { readonly signal: AbortSignal }) => unknown

export interface Attendance<R extends object> {
  readonly queue: Queue<R>
  readonly handler: Handler<R>
  readonly options: CheckedWork<R>
  /** The open transaction of a `tx`. */
  readonly find: (tx: unknown) => Ended
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
  event?: JobEvent,
): Promise<keyof WorkReport> {
  const end = await attendNow(job, attendance, event)
  if (event !== undefined) note(event, { outcome: end })
  return end
}

async function attendNow<R extends object>(
  job: Job<R>,
  attendance: Attendance<R>,
  event: JobEvent | undefined,
): Promise<keyof WorkReport> {
  const { handler } = attendance
  const lost = new AbortController()
  const own = ownJob(job, attendance, () => {
    watching.look()
    return lost.signal
  })
  const watching: Heartbeat = watch(job, attendance, {
    hasEnded: () => own.end() !== undefined,
    lose: (why) => lost.abort(why),
  })
  try {
    const handled = (async () => handler(own.job))()
    await untilAborted(handled, lost.signal, () => {})
    watching.stop()
    const end = own.end()
    if (end === undefined) await job.complete()
    else if (isUndone(end)) return await giveBack(job, { attendance, end: own.end, isUndone: true })
    return end?.as ?? 'done'
  } catch (thrown) {
    watching.stop()
    const error = readable(thrown)
    if (event !== undefined) noteFailure(event, error, [])
    attendance.options.onError(error, job)
    const isLost = error instanceof LockLostError && !(error instanceof JobTimeoutError)
    if (isLost && !attendance.givenUp.aborted) return 'lost'
    return giveBack(job, { attendance, end: own.end, isUndone: false })
  }
}

interface GivenBack<R extends object> {
  readonly attendance: Attendance<R>
  /** How the handler has ended the job itself: it may do so until now. */
  readonly end: () => OwnEnd | undefined
  /** Whether the transaction in which it did so is known to be rolled back, or may be. */
  readonly isUndone: boolean
}

/** What the handler ended in a transaction may be undone by now, so only the database can tell whether it has ended. */
async function giveBack<R extends object>(
  job: Job<R>,
  { attendance, end, isUndone: isRolledBack }: GivenBack<R>,
): Promise<keyof WorkReport> {
  const { options, givenUp } = attendance
  // as it is now: a stop that comes while the job is given back is not why
  const isStopped = givenUp.aborted
  try {
    await job.release({ delayMs: isStopped ? 0 : backoffMs(job.attempts ?? 1, options.backoff) })
    if (isRolledBack)
      options.onError(
        new Error('the transaction that was to end the job was rolled back: it is given back'),
        job,
      )
    return isStopped && !isRolledBack ? 'released' : 'failed'
  } catch (error) {
    const own = end()
    if (error instanceof LockLostError && own !== undefined) return own.as
    options.onError(error, job)
    return isStopped ? 'lost' : 'failed'
  }
}

interface Watched {
  /** Whether the handler has ended the job itself. */
  readonly hasEnded: () => boolean
  /** The handler is not waited for any longer. */
  readonly lose: (why: LockLostError) => void
}

function watch<R extends object>(
  job: Job<R>,
  { options, sentAt, givenUp }: Attendance<R>,
  { hasEnded, lose }: Watched,
): Heartbeat {
  const { visibilityMs, timeoutMs } = options
  const heart = heartbeat({
    extend: () => job.extend(visibilityMs),
    visibilityMs,
    sentAt,
    // the beat of a job that its handler has just ended finds it gone
    onLost: (why) => (hasEnded() ? undefined : lose(why)),
  })
  const stop = (why: LockLostError): void => {
    heart.stop()
    lose(why)
  }
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => stop(new JobTimeoutError(`the job took longer than ${timeoutMs} ms`)), timeoutMs)
  const onGivenUp = (): void => stop(new LockLostError('the worker has stopped'))
  givenUp.addEventListener('abort', onGivenUp, { once: true })
  return {
    stop: () => {
      heart.stop()
      clearTimeout(timer)
      givenUp.removeEventListener('abort', onGivenUp)
    },
    look: heart.look,
  }
}

/** How a handler has ended its job itself. */
interface OwnEnd {
  readonly as: 'done' | 'released'
  /** The transaction of which that is a part. */
  readonly open: Ended | undefined
}

type Ended = Pick<OpenTransaction<unknown>, 'onLeave' | 'isStored'>

/** One that is open still may be stored yet. */
function isUndone({ open }: OwnEnd): boolean {
  return open !== undefined && open.onLeave === undefined && !open.isStored
}

/** The job as the handler sees it: it can end the job itself, but not once it is lost. */
function ownJob<R extends object>(
  job: Job<R>,
  { find }: Attendance<R>,
  signal: () => AbortSignal,
): { readonly job: Job<R> & { readonly signal: AbortSignal }; readonly end: () => OwnEnd | undefined } {
  let ended: OwnEnd | undefined
  const end = async (as: OwnEnd['as'], tx: unknown, work: () => Promise<void>): Promise<void> => {
    signal().throwIfAborted()
    const open = tx === undefined ? undefined : find(tx)
    await work()
    ended = { as, open }
  }
  return {
    end: () => ended,
    job: {
      ...job,
      get signal() {
        return signal()
      },
      complete: (options) => end('done', options?.tx, () => job.complete(options)),
      release: (options) => end('released', options?.tx, () => job.release(options)),
      extend: async (visibilityMs) => {
        signal().throwIfAborted()
        await job.extend(visibilityMs)
      },
    },
  }
}
