import { freed, mustBe, planOf, sendClaim, type ReadClaim } from './claim-reads.ts'

interface Profiled {
  readonly docsExamined?: number
  readonly planSummary?: string
}

/** Documents that the commands of a claim have examined, by the server's profiler. */
export const readMongodbClaim: ReadClaim = async (stage, limit) => {
  const session = await stage.engine.open()
  try {
    await session.run({ command: { profile: 2 } })
    const jobs = await sendClaim(session, await planOf(stage, limit))
    await session.run({ command: { profile: 0 } })
    const filter = { ns: { $regex: '[.]job$' } }
    const profile = (await session.run({
      command: { find: 'system.profile', filter, sort: { ts: 1 }, batchSize: 100 },
    })) as readonly Profiled[]
    await session.run({ command: { drop: 'system.profile' } })
    await session.run(freed(true))
    mustBe(limit, jobs.length)
    return {
      count: profile.reduce((sum, { docsExamined = 0 }) => sum + docsExamined, 0),
      unit: 'documents',
      plan: [...new Set(profile.map(({ planSummary }) => planSummary).filter(Boolean))].join(', '),
    }
  } finally {
    await session.close()
  }
}
