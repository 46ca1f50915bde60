import type { Statement } from '../src/core/statement.ts'
import type { Queue } from '../src/locks/queue/queue-definition.ts'
import { queue } from '../src/locks/queue/queue.ts'
import { createJobTable, type JobRow, type JobTable } from '../test/claims/job-table.ts'
import { openWorkshop, type Workshop } from '../test/claims/workshop.ts'
import type { Engine, EngineKind, Server } from '../test/engines/engine.ts'

/** The most important job first. Patient enough that no job dies of being measured. */
export const measuredJobs: Queue<JobRow> = queue<JobRow>({
  table: 'job',
  id: 'id',
  orderBy: [{ column: 'priority', direction: 'desc' }],
  where: { state: 'ready' },
  claim: { token: 'claim_token', until: 'claimed_until', worker: 'claimed_by', attempts: 'attempts' },
  done: { set: { state: 'done' } },
  dead: { afterAttempts: 1_000_000, set: { state: 'dead' } },
})

/** How many rows a queue has of each kind. */
export interface QueueSize {
  readonly done: number
  readonly ready: number
}

/** A table of jobs in a database of its own, and claims on it. */
export interface QueueStage {
  readonly name: string
  readonly size: QueueSize
  readonly engine: Engine
  readonly table: JobTable
  readonly shop: Workshop
  readonly isDocuments: boolean
  /** Makes what `adviseIndexes` says, and gives it. @default for the jobs that are measured */
  readonly addIndex: (jobs?: Queue<object>) => Promise<readonly string[]>
  readonly dropIndex: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Fills a table: the jobs that are done were there first, the ready ones came last. */
export async function openQueueStage(kind: EngineKind, server: Server, size: QueueSize): Promise<QueueStage> {
  const { name } = kind
  const isDocuments = name === 'mongodb'
  const engine = await kind.connect(server)
  const table = await createJobTable(engine, isDocuments)
  const shop = await openWorkshop(name, engine.server.url)
  await (isDocuments ? fillDocuments : fillRows)(table, { from: 0, to: size.done, state: 'done' })
  await (isDocuments ? fillDocuments : fillRows)(table, {
    from: size.done,
    to: size.done + size.ready,
    state: 'ready',
  })
  return {
    name,
    size,
    engine,
    table,
    shop,
    isDocuments,
    addIndex: async (jobs = measuredJobs) => {
      const { statements } = await shop.claims.adviseIndexes(jobs)
      for (const text of statements) await table.run(statementOf(text, isDocuments))
      await settle(name, table)
      return statements
    },
    dropIndex: async () => void (await table.run(dropOf(name))),
    close: async () => {
      await shop.close()
      await table.close()
      await engine.close()
    },
  }
}

interface Filling {
  readonly from: number
  readonly to: number
  readonly state: 'done' | 'ready'
}

/** One statement that every SQL engine here understands: a thousand numbers, crossed with themselves. */
async function fillRows(table: JobTable, { from, to, state }: Filling): Promise<void> {
  const id = `${from} + high.n * 1000 + low.n`
  const numbers = 'WITH RECURSIVE seq(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM seq WHERE n < 999)'
  await table.run({
    sql:
      'INSERT INTO job (id, priority, title, state, claim_token, claimed_until, claimed_by, attempts) ' +
      `${numbers} SELECT ${id}, (${id}) % 7, 'a job', '${state}', NULL, NULL, NULL, 0 ` +
      `FROM seq AS high CROSS JOIN seq AS low WHERE ${id} < ${to}`,
    params: [],
  })
}

async function fillDocuments(table: JobTable, { from, to, state }: Filling): Promise<void> {
  const batch = 20_000
  for (let start = from; start < to; start += batch) {
    const documents = Array.from({ length: Math.min(batch, to - start) }, (_, index) => ({
      id: start + index,
      priority: (start + index) % 7,
      title: 'a job',
      state,
      claim_token: null,
      claimed_until: null,
      claimed_by: null,
      attempts: 0,
    }))
    await table.run({ command: { insert: 'job', documents } })
  }
}

function statementOf(text: string, isDocuments: boolean): Statement {
  return isDocuments ? { command: JSON.parse(text) as Record<string, unknown> } : { sql: text, params: [] }
}

function dropOf(name: string): Statement {
  if (name === 'mongodb') return { command: { dropIndexes: 'job', index: 'job_claim' } }
  return { sql: `DROP INDEX job_claim${['mysql', 'mariadb'].includes(name) ? ' ON job' : ''}`, params: [] }
}

/** What these engines do by themselves some time after so many rows were stored. */
const settling: Readonly<Record<string, string>> = {
  postgres: 'VACUUM (ANALYZE) job',
  mysql: 'ANALYZE TABLE job',
  mariadb: 'ANALYZE TABLE job',
  sqlite: 'PRAGMA wal_checkpoint(TRUNCATE)',
}

async function settle(name: string, table: JobTable): Promise<void> {
  const sql = settling[name]
  if (sql !== undefined) await table.run({ sql, params: [] })
}
