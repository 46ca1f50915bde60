import { describe, expect, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import { queue } from '../../src/locks/queue/queue.ts'
import type { Queue } from '../../src/locks/queue/queue-definition.ts'
import { caught } from '../entries/stage.ts'
import { newJobTable, ownIds } from './new-job-stage.ts'
import { describeQueues, type QueueStage } from './stage.ts'

type Jobs = Queue<Readonly<Record<string, unknown>>>

describe('the index of unique jobs', () => {
  describeQueues(specs, { only: ['postgres', 'mysql', 'mariadb', 'sqlite', 'duckdb'] })
  describeQueues(droppedSpecs, { only: ['mysql', 'mariadb'] })
})

const fits: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  postgres: {
    'on some rows': `CREATE UNIQUE INDEX ix ON index_job (k) WHERE state = 'ready'`,
    'to which nulls are equal': 'CREATE UNIQUE INDEX ix ON index_job (k) NULLS NOT DISTINCT',
    'of an expression': 'CREATE UNIQUE INDEX ix ON index_job (lower(k))',
    'that is checked later': 'ALTER TABLE index_job ADD CONSTRAINT ix UNIQUE (k) DEFERRABLE',
  },
  mysql: { 'of a prefix': 'CREATE UNIQUE INDEX ix ON index_job (k(3))' },
  mariadb: { 'of a prefix': 'CREATE UNIQUE INDEX ix ON index_job (k(3))' },
  sqlite: {
    'on some rows': `CREATE UNIQUE INDEX ix ON index_job (k) WHERE state = 'ready'`,
    'of an expression': 'CREATE UNIQUE INDEX ix ON index_job (lower(k))',
  },
  duckdb: { 'of an expression': 'CREATE UNIQUE INDEX ix ON index_job (lower(k))' },
}

function specs(stage: QueueStage): void {
  const say = (sql: string) => stage.table.run({ sql, params: [] })
  const described = (table: string | readonly string[], unique = 'k'): Jobs =>
    queue({
      table,
      id: 'id',
      orderBy: 'id',
      claim: { token: 'token', until: 'until', unique },
      done: 'delete',
    })
  const createTable = async (name: string, key = 'k'): Promise<unknown> => {
    if (stage.name === 'duckdb') await say('CREATE SEQUENCE IF NOT EXISTS new_job_ids')
    return say(
      `CREATE TABLE ${name} (id ${ownIds[stage.name]}, title VARCHAR(60), state VARCHAR(20), ` +
        `${key} VARCHAR(60), token VARCHAR(36), until BIGINT)`,
    )
  }
  const refusal = async (jobs: Jobs, job: object): Promise<string> => {
    const error = await caught(stage.shop.claims.enqueue(jobs, job))
    expect(error).toBeInstanceOf(LockUsageError)
    return String(error)
  }
  const unfit = {
    'on two columns': 'CREATE UNIQUE INDEX ix ON index_job (k, title)',
    'on another column': 'CREATE UNIQUE INDEX ix ON index_job (title)',
    'that is not unique': 'CREATE INDEX ix ON index_job (k)',
    ...fits[stage.name],
  }

  test.each(Object.entries(unfit))('is not one %s', async (_, create) => {
    await createTable('index_job')
    try {
      await say(create)
      expect(await refusal(described('index_job'), { k: 'x' })).toContain('has no unique index on k alone')
      expect(await say('SELECT * FROM index_job')).toEqual([])
    } finally {
      await say('DROP TABLE index_job')
    }
  })

  const [longTable, longKey] = ['t'.repeat(50), 'k'.repeat(30)]
  const schema = stage.name === 'sqlite' ? 'main' : 'index_schema'
  test.each([
    ['in a schema', [schema, 'index_job'], 'k'],
    ['with long names', [longTable], longKey],
  ] as const)('is made by the statement that is shown, for a table %s', async (_, table, key) => {
    const isOther = table.length > 1 && stage.name !== 'sqlite'
    if (isOther) await say(`CREATE SCHEMA ${schema}`)
    await createTable(table.join('.'), key)
    try {
      const jobs = described(table, key)
      await say(/run: (.+)$/.exec(await refusal(jobs, { [key]: 'x' }))?.[1] ?? '')
      await stage.shop.claims.enqueue(jobs, { [key]: 'x' })
      expect((await stage.shop.claims.enqueue(jobs, { [key]: 'x' })).existing).toHaveLength(1)
      for (const statement of (await stage.shop.claims.adviseIndexes(jobs)).statements)
        if (!statement.includes('UNIQUE')) await say(statement)
    } finally {
      await say(`DROP TABLE ${table.join('.')}`)
      if (isOther) await say(`DROP SCHEMA ${schema}`)
    }
  })
}

/** Elsewhere the INSERT itself names the column, and is refused. */
function droppedSpecs(stage: QueueStage): void {
  const table = newJobTable(stage, 'dropped_job')

  test('is missed when somebody drops it: nothing is stored twice', async () => {
    const { enqueue } = stage.shop.claims
    await enqueue(table.jobs, { k: 'x' })
    await stage.table.run({ sql: 'DROP INDEX dropped_job_k ON dropped_job', params: [] })
    expect(String(await caught(enqueue(table.jobs, { k: 'x' })))).toContain('has no unique index on k alone')
    expect(String(await caught(enqueue(table.jobs, [{ k: 'x' }, { k: 'y' }])))).toContain('no unique index')
    expect(await table.keys()).toEqual(['x'])
  })
}
