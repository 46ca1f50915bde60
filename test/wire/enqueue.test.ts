import { beforeAll, describe, expect, test } from 'vitest'

import { queue } from '../../src/locks/queue/queue.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { connected } from './subject.ts'

const jobs = queue<{ id: number; title: string; k: string | null; token: string | null; until: number }>({
  table: 'new_job',
  id: 'id',
  orderBy: 'id',
  claim: { token: 'token', until: 'until', unique: 'k' },
  done: 'delete',
})

describe('round trips of new jobs', () => {
  describeEngines(specs, { only: ['postgres', 'mysql', 'mariadb'] })
})

function specs(context: EngineContext): void {
  const subject = connected(context)
  const isPostgres = context.name === 'postgres'
  beforeAll(async () => {
    const owner = await context.engine.open()
    const rows = [
      'drop table if exists new_job',
      'create table new_job (id int primary key, title varchar(20), k varchar(20) unique, token varchar(36), until bigint)',
    ]
    for (const sql of rows) await owner.run({ sql, params: [] })
    await owner.close()
    await subject().locks.enqueue(jobs, { id: 0, k: 'first' }) // asks once for the index
  })
  const tripsOf = (ids: readonly number[], more: object = {}): Promise<readonly string[]> => {
    const { proxy, locks } = subject()
    return proxy.during(() =>
      locks.enqueue(
        jobs,
        ids.map((id) => ({ id, k: `k${id}`, ...more })),
      ),
    )
  }
  const insert = expect.stringMatching(/^INSERT INTO/) as unknown
  const look = expect.stringMatching(/^SELECT j\..id/) as unknown
  const notice = expect.stringMatching(/^SELECT pg_notify/) as unknown

  test('one with a key costs its INSERT where that tells the id', async () => {
    const trips = isPostgres ? [insert, notice] : ['START TRANSACTION', insert, look, 'COMMIT']
    expect(await tripsOf([1])).toEqual(trips)
  })

  test('one that is there costs a look more', async () => {
    // after a statement that failed the server is asked whether the transaction is still there
    const trips = isPostgres ? [insert, look] : ['START TRANSACTION', insert, look, 'DO 0', 'COMMIT']
    expect(await tripsOf([1])).toEqual(trips)
  })

  test('many cost no more statements than one, in a transaction', async () => {
    const trips = isPostgres
      ? ['BEGIN', insert, 'COMMIT', notice]
      : ['START TRANSACTION', insert, look, 'COMMIT']
    expect(await tripsOf([2, 3, 4])).toEqual(trips)
  })

  test('many without keys cost one INSERT', async () => {
    expect(await tripsOf([5, 6, 7], { k: null })).toEqual(isPostgres ? [insert, notice] : [insert])
  })

  test('in a transaction there is no other', async () => {
    const { proxy, locks } = subject()
    const trips = await proxy.during(() =>
      locks.transaction((tx) => locks.enqueue(jobs, { id: 9, k: 'k9' }, { tx })),
    )
    const first = isPostgres
      ? [expect.stringMatching(/^BEGIN; .*; INSERT INTO/)]
      : ['START TRANSACTION', insert]
    expect(trips).toEqual([...first, isPostgres ? notice : look, 'COMMIT'])
  })
}
