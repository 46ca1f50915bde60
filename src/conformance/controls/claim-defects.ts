import type { ClaimStatements } from '../../dialects/claim.ts'
import type { Job, JobKey } from '../../locks/queue/job.ts'
import type { Queue } from '../../locks/queue/queue-definition.ts'
import { onSession } from '../ground.ts'
import type { Client, Sabotage } from '../subject.ts'

type Take = ClaimStatements['take']

function takingLike(does: string, change: (take: Take) => Take): Sabotage {
  return {
    does,
    dialect: (dialect) => ({
      ...dialect,
      claim: (use) => dialect.claim((claim) => use({ ...claim, take: change(claim.take) })),
    }),
  }
}

/** The same client, whose jobs end in another way. */
function withJobs(client: Client, change: (job: Job, queue: Queue<object>) => Partial<Job>): Client {
  const claim = async (
    ...[queue, options]: Parameters<Client['locks']['claim']>
  ): Promise<readonly Job[]> => {
    const jobs = (await client.locks.claim(queue, options)) as readonly Job[]
    return jobs.map((job) => Object.assign(job, change({ ...job }, queue)))
  }
  return { ...client, locks: { ...client.locks, claim: claim as Client['locks']['claim'] } }
}

export const claimsForNoTime: Sabotage = takingLike(
  'claims jobs without keeping others away from them',
  (take) => (queue, terms, version) => take(queue, { ...terms, visibilityMs: -1000 }, version),
)

export const claimsByFastClock: Sabotage = takingLike(
  "counts the time of a claim by the client's clock, which is an hour fast",
  (take) => (queue, terms, version) =>
    take(queue, { ...terms, visibilityMs: terms.visibilityMs + 3_600_000 }, version),
)

export const claimsBySlowClock: Sabotage = takingLike(
  "counts the time of a claim by the client's clock, which is an hour slow",
  (take) => (queue, terms, version) =>
    take(queue, { ...terms, visibilityMs: terms.visibilityMs - 3_600_000 }, version),
)

export const claimsLastFirst: Sabotage = takingLike(
  'claims in the opposite order',
  (take) => (queue, terms, version) => {
    const order = queue.order.map(({ column, direction }) => ({
      column,
      direction: direction === 'asc' ? ('desc' as const) : ('asc' as const),
    }))
    return take({ ...queue, order }, terms, version)
  },
)

export const claimsTooMany: Sabotage = takingLike(
  'claims more jobs than it was asked for',
  (take) => (queue, terms, version) => take(queue, { ...terms, limit: terms.limit + 1 }, version),
)

export const endsAnybodysJob: Sabotage = {
  does: 'ends a job without looking whose it is by now',
  client: (client, { fixture }) =>
    withJobs(client, (job, queue) => {
      const current = async (): Promise<JobKey> => {
        const table = [queue.shape.table].flat().at(-1) ?? ''
        const rows = await onSession(client, (session) => session.run(fixture.all(table)))
        const token = rows.find((row) => Number(row[queue.shape.id]) === Number(job.id))?.[queue.shape.token]
        return { id: job.id, token: typeof token === 'string' ? token : job.token }
      }
      return {
        complete: async (options) => client.locks.complete(queue, await current(), options as object),
        release: async (options) => client.locks.release(queue, await current(), options as object),
        extend: async (visibilityMs) => client.locks.extend(queue, await current(), visibilityMs),
      }
    }),
}

export const forgetsToTell: Sabotage = {
  does: 'ends, gives back and extends jobs without telling the database',
  client: (client) =>
    withJobs(client, () => ({ complete: async () => {}, release: async () => {}, extend: async () => {} })),
}

/** Claims that exclude nobody, or are ended in a wrong way. */
export const claimDefects: readonly Sabotage[] = [
  claimsForNoTime,
  claimsByFastClock,
  claimsBySlowClock,
  claimsLastFirst,
  claimsTooMany,
  endsAnybodysJob,
  forgetsToTell,
]
