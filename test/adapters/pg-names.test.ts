import pg from 'pg'
import { afterEach, describe, expect, test, vi } from 'vitest'

import { sessions, type PgSessionOptions } from '../../src/adapters/pg/sessions.ts'
import type { Session } from '../../src/core/session.ts'
import type { SqlStatement } from '../../src/core/statement.ts'
import { useExtraServer } from '../engines/extra-server.ts'
import { intoDatabase } from '../engines/own-database.ts'
import { startPgBouncer } from '../engines/pgbouncer.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'

describe('statements that are kept prepared', () => {
  describeEngines(specs, { only: ['postgres'] })
})

const ask: SqlStatement = { sql: 'select $1::int as n', params: [7], isPrepared: true }
/** What the connection has prepared, as its server tells. */
const list: SqlStatement = {
  sql: "select name from pg_prepared_statements where name like 'holdfast%' order by name",
  params: [],
}

function specs(context: EngineContext): void {
  const pooler = useExtraServer(() => startPgBouncer(context.server, 'transaction'))
  const pools: pg.Pool[] = []
  afterEach(async () => {
    for (const pool of pools.splice(0)) await pool.end()
  })
  const poolOf = (url = context.engine.server.url, max = 1): pg.Pool => {
    const pool = new pg.Pool({ connectionString: url, max })
    pools.push(pool)
    return pool
  }
  const inSession = async <T>(
    work: (session: Session) => Promise<T>,
    options?: PgSessionOptions,
    pool = poolOf(),
  ): Promise<T> => {
    const session = await sessions(pool, options).open()
    return work(session).finally(() => session.release())
  }

  test('the second time, the server is sent the name alone', async () => {
    await inSession(async (session) => {
      expect(await session.run(ask)).toMatchObject([{ n: 7 }])
      expect(await session.run({ ...ask, params: [8] })).toMatchObject([{ n: 8 }])
      expect(await session.run(list)).toEqual([{ name: expect.stringMatching(/^holdfast_0_[0-9a-f]{32}$/) }])
    })
  })

  test('nothing is prepared when that is not wanted, and nothing that did not ask for it', async () => {
    const prepared = async (session: Session): Promise<unknown> => {
      await session.run(ask)
      return session.run(list)
    }
    expect(await inSession(prepared, { prepare: false })).toEqual([])
    const unasked = { sql: ask.sql, params: ask.params }
    await inSession(async (session) => {
      await session.run(unasked)
      expect(await session.run(list)).toEqual([])
    })
  })

  test('nothing is prepared inside of a transaction, where a refused name would end it', async () => {
    await inSession(async (session) => {
      await session.begin()
      await session.run(ask)
      expect(await session.run(list)).toEqual([])
      await session.commit()
      await session.run(ask)
      expect(await session.run(list)).toHaveLength(1)
    })
  })

  test('a table that is changed meanwhile costs one more try, and the next ones are prepared again', async () => {
    await inSession(async (session) => {
      const say = (sql: string): Promise<unknown> => session.run({ sql, params: [] })
      const readAll: SqlStatement = { sql: 'select * from changing', params: [], isPrepared: true }
      await say('create table changing (id int)')
      await say('insert into changing values (1)')
      expect(await session.run(readAll)).toEqual([{ id: 1 }])
      await say("alter table changing add column name text default 'new'")
      expect(await session.run(readAll)).toEqual([{ id: 1, name: 'new' }])
      expect(await session.run(readAll)).toEqual([{ id: 1, name: 'new' }])
      expect(await session.run(list)).toContainEqual({ name: expect.stringMatching(/^holdfast_1_/) })
      await say('drop table changing')
    })
  })

  test('an error of the statement itself is not sent again', async () => {
    await inSession(async (session) => {
      await session.run({ sql: 'create sequence tries', params: [] })
      const fails: SqlStatement = {
        sql: "select 1 / (nextval('tries') - nextval('tries') + 1)",
        params: [],
        isPrepared: true,
      }
      await expect(session.run(fails)).rejects.toMatchObject({ code: '22012' })
      expect(await session.run({ sql: 'select last_value::int as n from tries', params: [] })).toEqual([
        { n: 2 },
      ])
    })
  })

  test('a program with ever new texts does not fill the memory of the server', async () => {
    await inSession(async (session) => {
      for (let n = 0; n < 250; n += 1)
        await session.run({ sql: `select ${n} as n`, params: [], isPrepared: true })
      expect(await session.run(list)).toHaveLength(200)
    })
  })

  test('behind a pooler that does not know prepared statements, everything is answered, without names in the end', async ({
    skip,
  }) => {
    const url = intoDatabase(pooler(skip).server.url, new URL(context.engine.server.url).pathname.slice(1))
    const unguarded = poolOf(url, 4)
    const raw = await Promise.allSettled(
      Array.from({ length: 40 }, () => unguarded.query({ name: 'control', text: 'select 1', values: [] })),
    )
    const refused = raw.flatMap((one) =>
      one.status === 'rejected' ? [(one.reason as pg.DatabaseError).code] : [],
    )
    if (refused.length === 0) skip('this pooler knows prepared statements')

    const pool = poolOf(url, 4)
    const all = await Promise.all(Array.from({ length: 4 }, () => sessions(pool).open()))
    const round = async (): Promise<unknown> => Promise.all(all.map((session) => session.run(ask)))
    for (let count = 0; count < 20; count += 1) expect(await round()).toMatchObject(all.map(() => [{ n: 7 }]))
    // each time behind somebody who keeps the connection that the last one was on, so that it comes to another
    const keeper = await unguarded.connect()
    for (const session of all) {
      await session.run(ask)
      await keeper.query('begin')
      expect(await session.run(ask)).toMatchObject([{ n: 7 }])
      await keeper.query('commit')
    }
    keeper.release()
    const named = all.map(({ tx }) => vi.spyOn(tx, 'query'))
    await round()
    await Promise.all(all.map((session) => session.release()))
    expect(named.map(({ mock }) => mock.calls[0])).toEqual(all.map(() => [ask.sql, ask.params]))
  })
}
