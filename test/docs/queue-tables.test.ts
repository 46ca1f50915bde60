import { describe, expect, test } from 'vitest'

import type { Statement } from '../../src/core/statement.ts'
import { queue } from '../../src/locks/queue/queue.ts'
import { registry } from '../../src/registry.ts'
import { openWorkshop } from '../claims/workshop.ts'
import { describeEngines } from '../engines/use.ts'
import { readPage } from './page.ts'
import { jsonLines, statementsIn } from './statements.ts'
import { enginesIn } from './words.ts'

/** What the page says for each engine: the table and its index. */
const layouts = new Map<string, readonly string[]>(
  (await readPage('docs/queues.md')).fences
    .filter(({ words }) => words.includes('setup'))
    .flatMap((fence) => {
      const layout = fence.language === 'json' ? jsonLines(fence.text) : statementsIn(fence.text)
      return enginesIn(fence).map((engine) => [engine, layout] as const)
    }),
)

/** The queue of the page's first program. */
const jobsOf = (id: string): ReturnType<typeof queue> =>
  queue({
    table: 'job',
    id,
    orderBy: { column: 'priority', direction: 'desc' },
    where: { state: 'ready' },
    claim: { token: 'claim_token', until: 'claimed_until', worker: 'claimed_by', attempts: 'attempts' },
    done: { set: { state: 'done' } },
    dead: { afterAttempts: 5, set: { state: 'dead' } },
  })

describe('the table on the page', () => {
  describeEngines((context) => {
    test('works as a queue, with the index that is advised', async () => {
      const { name, engine } = context
      const layout = layouts.get(name) ?? []
      const isDocuments = name === 'mongodb'
      const jobs = jobsOf(isDocuments ? '_id' : 'id')
      const shop = await openWorkshop(name, engine.server.url)
      try {
        for (const text of layout) await shop.run(statementOf(text, isDocuments))
        const { statements, warning } = await shop.claims.adviseIndexes(jobs)
        expect(warning).toBeUndefined()
        expect(layout.filter((text) => /index/i.test(text))).toEqual(statements)
        await shop.run(isDocuments ? newDocument : newRow)
        const [job] = await shop.claims.claim(jobs, { worker: 'w' })
        expect(job?.attempts).toBe(1)
        await job?.complete()
        expect(await shop.claims.claim(jobs)).toEqual([])
      } finally {
        await shop.close()
      }
    })
  })

  test('has the index that SQL Server would be advised', async () => {
    const layout = layouts.get('mssql') ?? []
    const { claimIndex } = await registry.mssql.tools()
    expect(claimIndex.index(jobsOf('id').shape, [16, 0, 0])).toEqual([{ sql: layout.at(-1), params: [] }])
  })
})

const newRow: Statement = { sql: `INSERT INTO job (payload) VALUES ('{"to":"you"}')`, params: [] }
const newDocument: Statement = {
  command: { insert: 'job', documents: [{ _id: 1, priority: 0, state: 'ready', payload: { to: 'you' } }] },
}

function statementOf(text: string, isDocuments: boolean): Statement {
  return isDocuments ? { command: JSON.parse(text) as Record<string, unknown> } : { sql: text, params: [] }
}
