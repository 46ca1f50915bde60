import { workFailure } from '../../connect/failure.ts'
import { destinationOf } from '../../connect/open.ts'
import { within } from '../../connect/within.ts'
import { performance } from '../../core/clock.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { InspectOptions } from '../../core/inspection.ts'
import { untilAborted } from '../../locks/abort.ts'
import { createDeadlockMemory } from './deadlock-memory.ts'
import { endSession, endingOf } from './end-session.ts'
import type { Ending, EndingWay, Look } from './look.ts'
import { createQueueLooks } from './queue-looks.ts'
import type { WatchedQueue } from './queue-option.ts'
import { createWay, type Reached } from './reached.ts'

/** The database that a board looks at. */
export interface Source {
  /** For people, without secrets. */
  readonly title: string
  /** Rejects with words that hold no secret; the next look then finds its own way to the server again. */
  readonly look: (signal: AbortSignal) => Promise<Look>
  /** How sessions of this server can be ended. */
  readonly ending: () => Promise<Omit<Ending, 'isAllowed'>>
  /** Tells whether the server has found the session. */
  readonly end: (id: string, way: EndingWay) => Promise<boolean>
  readonly close: () => Promise<void>
}

export interface SourceOptions {
  readonly inspect: Omit<InspectOptions, 'signal'>
  readonly queues: readonly WatchedQueue[]
}

/** For ending a session: longer than any server takes for it. */
const endLimitMs = 10_000

/** The deadlocks that a server remembers are many pages of text on some: they are not asked for with each look. */
const deadlocksEveryMs = 5000

/** Opens the database. Rejects with `ConnectError` when it cannot be reached now; later it is looked for again. */
export async function openSource(url: string, options: SourceOptions): Promise<Source> {
  const place = destinationOf(url)
  const { current, forget, close } = createWay(url)
  const look = createLook(options)
  const inWords = (error: unknown): Error =>
    error instanceof LockUsageError ? error : workFailure(error, place)
  await current()
  return {
    title: place.shown,
    look: async (signal) => {
      const looking = current().then((now) => look(now, signal))
      try {
        return await untilAborted(looking, signal, () => {})
      } catch (error) {
        forget()
        throw inWords(error)
      }
    },
    ending: async () => {
      const { open, server } = await current()
      return endingOf(open.sessions, server)
    },
    end: async (id, way) => {
      const { open, server } = await current()
      try {
        return await within(endLimitMs, endSession(open.sessions, server, { id, way }), noAnswer)
      } catch (error) {
        throw inWords(error)
      }
    },
    close,
  }
}

function noAnswer(): Error {
  return new Error('the server does not answer')
}

/** One look after another: what is remembered between them outlives a connection. */
function createLook({
  inspect,
  queues,
}: SourceOptions): (reached: Reached, signal: AbortSignal) => Promise<Look> {
  const memory = createDeadlockMemory()
  const queueLooks = createQueueLooks(queues)
  let heardAt = -Infinity
  return async ({ open, meeting, server }, signal) => {
    const began = performance.now()
    const { sessions, leases, unseen, ...who } = await meeting.shared.inspect({ ...inspect, signal })
    memory.see(sessions, new Date())
    if (began - heardAt >= deadlocksEveryMs) {
      memory.hear(await meeting.deadlocks(signal), new Date())
      heardAt = began
    }
    const { stats } = meeting.shared
    const seen = await queueLooks({ stats, sessions: open.sessions, server })
    const tookMs = Math.round(performance.now() - began)
    return { ...who, sessions, leases, queues: seen, deadlocks: memory.seen(), unseen, tookMs }
  }
}
