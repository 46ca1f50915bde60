import { beforeEach, expect, test } from 'vitest'

import { queue } from '../../src/locks/queue/queue.ts'
import { ownIds } from '../claims/new-job-stage.ts'
import { caught } from '../entries/stage.ts'
import { clients } from './clients.ts'
import { describeOrms, type OrmContext } from './describe-orms.ts'
import { orms } from './orms.ts'

const json: Readonly<Record<string, string>> = { postgres: 'JSONB', sqlite: 'TEXT' }

const jobs = queue({
  table: 'orm_job',
  id: 'id',
  orderBy: 'id',
  where: { state: 'ready' },
  claim: { token: 'token', until: 'until', unique: 'k' },
  done: 'delete',
})

describeOrms(specs, undefined, [...orms, ...clients])

function specs(context: OrmContext): void {
  const run = async (...statements: readonly string[]): Promise<readonly object[]> => {
    const session = await context.engine.open()
    let rows: readonly object[] = []
    for (const sql of statements) rows = await session.run({ sql, params: [] })
    await session.close()
    return rows
  }
  beforeEach(async () => {
    await run(
      'DROP TABLE IF EXISTS orm_job',
      `CREATE TABLE orm_job (id ${ownIds[context.name]}, payload ${json[context.name] ?? 'JSON'}, ` +
        'state VARCHAR(20), k VARCHAR(60), token VARCHAR(36), until BIGINT)',
      'CREATE UNIQUE INDEX orm_job_k ON orm_job (k)',
    )
  })
  const keys = async (): Promise<readonly unknown[]> =>
    (await run('SELECT k FROM orm_job ORDER BY k')).map((row) => (row as { k: unknown }).k)

  test('new jobs are stored with what the ORM has stored, or not at all', async () => {
    const { app, other } = context
    const { stored } = await app.locks.transaction(async (tx) => {
      await app.insert(tx, { id: 3, balance: 1 })
      return app.locks.enqueue(jobs, [{ k: 'a' }, { k: 'b' }], { tx })
    })
    expect(stored).toHaveLength(2)
    const why = new Error('undone')
    const undone = app.locks.transaction(async (tx) => {
      await app.insert(tx, { id: 4, balance: 1 })
      const done = await app.locks.enqueue(jobs, [{ k: 'b' }, { k: 'c' }], { tx })
      expect([done.stored.length, done.existing.map(String)]).toEqual([1, [String(stored[1])]])
      throw why
    })
    expect(await caught(undone)).toBe(why)
    expect([await app.select(3), await app.select(4)]).toEqual([[{ id: 3, balance: 1 }], []])
    expect(await keys()).toEqual(['a', 'b'])
    expect(await other.locks.claim(jobs, { limit: 5 })).toHaveLength(2)
    expect((await other.locks.enqueue(jobs, { k: 'a' })).stored).toHaveLength(1)
  })

  test('of many that store one key at once, one does', async () => {
    const { app, other } = context
    const calls = Array.from({ length: 8 }, (_, index) => {
      const { locks } = index % 2 === 0 ? app : other
      return index < 4
        ? locks.enqueue(jobs, { k: 'x' })
        : locks.transaction((tx: unknown) => locks.enqueue(jobs, { k: 'x' }, { tx }))
    })
    const done = await Promise.all(calls)
    expect(done.flatMap(({ stored }) => stored)).toHaveLength(1)
    expect(done.flatMap(({ existing }) => existing)).toHaveLength(7)
    expect(await keys()).toEqual(['x'])
  })

  test('JSON that is given as text is JSON', async () => {
    await context.app.locks.enqueue(jobs, { k: 'x', payload: '{"to":["Ada"]}' })
    const [job] = await context.other.locks.claim(jobs)
    const payload = (job?.row as { readonly payload: unknown } | undefined)?.payload
    expect(typeof payload === 'string' ? JSON.parse(payload) : payload).toEqual({ to: ['Ada'] })
  })

  test('one that the work does not wait for is stored with it', async () => {
    const { app } = context
    await app.locks.transaction(async (tx) => {
      void app.locks.enqueue(jobs, { k: 'x' }, { tx })
    })
    expect(await keys()).toEqual(['x'])
  })
}
