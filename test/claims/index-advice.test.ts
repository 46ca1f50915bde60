import { describe, expect, test } from 'vitest'

import type { Statement } from '../../src/core/statement.ts'
import type { Queue } from '../../src/locks/queue/queue-definition.ts'
import { queue } from '../../src/locks/queue/queue.ts'
import { jobs, type JobRow } from './job-table.ts'
import { describeQueues, type QueueStage } from './stage.ts'

const shapes: Readonly<Record<string, Queue<JobRow>>> = {
  'one state, by priority': jobs,
  'one state, by id': queue<JobRow>({
    table: 'job',
    id: 'id',
    orderBy: 'id',
    where: { state: 'ready' },
    claim: { token: 'claim_token', until: 'claimed_until' },
    done: 'delete',
  }),
}

describe('the advised index', () => {
  // Each in a table of its own: PostgreSQL leaves a new index unused until all older transactions of the server, those
  // of other test files too, have ended, if it finds updated rows in the table that one of them might still see.
  describe.each(Object.entries(shapes))('for %s', (_, shape) => {
    describeQueues(
      (stage) => {
        test('ends the warning that a claim reads in vain', async () => {
          await fill(stage)
          const { adviseIndexes } = stage.shop.claims
          const before = await adviseIndexes(shape)
          expect(before.statements).toHaveLength(1)
          expect(before.warning, 'without it').toMatch(/^a claim is slow: /)
          for (const text of before.statements) await stage.table.run(statementOf(stage, text))
          const after = await adviseIndexes(shape)
          expect(after).toEqual({ statements: before.statements, warning: undefined })
          expect(await stage.shop.claims.claim(shape)).toHaveLength(1)
        })
      },
      { only: ['postgres', 'mysql', 'mariadb', 'sqlite', 'mongodb'] },
    )
  })

  describeQueues(
    (stage) => {
      test('is none on an engine that reads its columns as a whole', async () => {
        const advice = await stage.shop.claims.adviseIndexes(jobs)
        expect(advice).toEqual({ statements: [], warning: undefined })
      })
    },
    { only: ['duckdb'] },
  )
})

async function fill({ table }: QueueStage): Promise<void> {
  await table.add(
    Array.from({ length: 3000 }, (_, id) => ({ id, priority: id % 7, state: id < 2900 ? 'done' : 'ready' })),
  )
}

function statementOf({ isDocuments }: QueueStage, text: string): Statement {
  return isDocuments ? { command: JSON.parse(text) as Record<string, unknown> } : { sql: text, params: [] }
}
