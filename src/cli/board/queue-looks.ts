import { classifyError } from '../../classify.ts'
import { performance } from '../../core/clock.ts'
import type { Session, Sessions } from '../../core/session.ts'
import type { Tally } from '../../dialects/claim.ts'
import type { Server } from '../../locks/port.ts'
import type { QueueStats } from '../../locks/queue/stats.ts'
import type { Queue } from '../../locks/queue/queue-definition.ts'
import { createClaimRate, type ClaimRate } from './claim-rate.ts'
import type { QueueSeen } from './look.ts'
import type { WatchedQueue } from './queue-option.ts'

/** What is needed of a database to look at its queues. */
export interface QueueGround {
  readonly stats: (queue: Queue) => Promise<QueueStats>
  readonly sessions: Sessions
  readonly server: (session: Session) => Server | Promise<Server>
}

/** Looks at the queues one after another. Rejects when the connection is lost; a queue that is amiss says so itself. */
export type QueueLooks = (ground: QueueGround) => Promise<readonly QueueSeen[]>

export function createQueueLooks(queues: readonly WatchedQueue[]): QueueLooks {
  const all = queues.map((queue) => ({ queue, rate: createClaimRate() }))
  return async (ground) => {
    const seen: QueueSeen[] = []
    for (const { queue, rate } of all) seen.push(await lookAt(queue, rate, ground))
    return seen
  }
}

async function lookAt(watched: WatchedQueue, rate: ClaimRate, ground: QueueGround): Promise<QueueSeen> {
  const { name, queue, stored } = watched
  const hasAge = stored !== undefined
  try {
    const counts = await ground.stats(queue)
    const { oldestMs, claimsPerSecond } = await details(watched, rate, ground)
    return {
      name,
      hasAge,
      counts,
      ...(oldestMs === undefined ? {} : { oldestMs }),
      ...(claimsPerSecond === undefined ? {} : { claimsPerSecond }),
    }
  } catch (error) {
    if (classifyError(error).kind === 'connection-lost') throw error
    return { name, hasAge, problem: error instanceof Error ? error.message : String(error) }
  }
}

async function details(
  { queue: { shape }, stored }: WatchedQueue,
  rate: ClaimRate,
  { sessions, server }: QueueGround,
): Promise<{ readonly oldestMs: number | undefined; readonly claimsPerSecond: number | undefined }> {
  return withSession(sessions, async (session) => {
    const ask = async <T>({ statement, read }: Tally<T>): Promise<T> => read(await session.run(statement))
    const { queueLook } = (await (await server(session)).dialect.tools?.()) ?? {}
    if (queueLook === undefined) return { oldestMs: undefined, claimsPerSecond: undefined }
    const oldestMs = stored && (await ask(queueLook.oldest(shape, stored)))
    return { oldestMs, claimsPerSecond: rate(await ask(queueLook.claims(shape)), performance.now()) }
  })
}

/** Lends a connection; one on which something has failed is ended, and not given back. */
export async function withSession<T>(sessions: Sessions, work: (session: Session) => Promise<T>): Promise<T> {
  const session = await sessions.open()
  try {
    const result = await work(session)
    await session.release()
    return result
  } catch (error) {
    await session.destroy(error instanceof Error ? error : new Error(String(error)))
    throw error
  }
}
