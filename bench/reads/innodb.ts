import { isSql } from '../../src/core/statement.ts'
import type { EngineSession } from '../../test/engines/engine.ts'
import { freed, mustBe, planOf, sendClaim, type ReadClaim } from './claim-reads.ts'

/** Reads that the server has asked the storage engine for, by the session's own counters. */
export const readInnodbClaim: ReadClaim = async (stage, limit) => {
  const session = await stage.engine.open()
  try {
    const plan = await planOf(stage, limit)
    await session.run({ sql: 'FLUSH STATUS', params: [] })
    const idle = await handlerReads(session)
    await session.run({ sql: 'FLUSH STATUS', params: [] })
    const jobs = await sendClaim(session, plan)
    const count = (await handlerReads(session)) - idle
    await session.run(freed(false))
    mustBe(limit, jobs.length)
    return { count, unit: 'rows', plan: await keysOf(session, plan) }
  } finally {
    await session.close()
  }
}

async function handlerReads({ run }: EngineSession): Promise<number> {
  const rows = await run({ sql: "SHOW SESSION STATUS LIKE 'Handler_read%'", params: [] })
  return rows.reduce((sum, row) => sum + Number(row.Value), 0)
}

/** The indexes of the claim's statements. */
async function keysOf(
  { run }: EngineSession,
  { steps }: Awaited<ReturnType<typeof planOf>>,
): Promise<string> {
  const keys: string[] = []
  for (const step of steps) {
    if (typeof step === 'function' || !isSql(step) || step.sql.startsWith('SET')) continue
    const rows = await run({ sql: `EXPLAIN FORMAT=TRADITIONAL ${step.sql}`, params: step.params })
    keys.push(
      ...rows
        .filter((row) => row.table === 'j' || row.table === 'taken')
        .map((row) => `${String(row.type)} ${String(row.key)}`),
    )
  }
  return [...new Set(keys)].join(', ')
}
