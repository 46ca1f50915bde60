import pg from 'pg'
import { afterEach, describe, expect, test, vi } from 'vitest'

import { statementNames } from '../../src/adapters/pg/names.ts'
import { sessions, type PgSessionOptions } from '../../src/adapters/pg/sessions.ts'
import type { Session } from '../../src/core/session.ts'
import type { SqlStatement } from '../../src/core/statement.ts'
import { useExtraServer, type Skip } from '../engines/extra-server.ts'
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

  test('nor do tables that change again and again', () => {
    const names = statementNames({})
    const changed = { code: '0A000', routine: 'RevalidateCachedQuery' }
    const made = Array.from({ length: 300 }, () => {
      const name = names.of('select 1')
      if (name !== undefined) names.isRefused(changed, name)
      return name
    })
    expect(made.filter((name) => name !== undefined)).toHaveLength(200)
  })

  test('a program with ever new texts does not fill the memory of the server', async () => {
    await inSession(async (session) => {
      for (let n = 0; n < 250; n += 1)
        await session.run({ sql: `select ${n} as n`, params: [], isPrepared: true })
      expect(await session.run(list)).toHaveLength(200)
    })
  })

  describe('behind a pooler that does not know prepared statements', () => {
    /** As many as the pooler keeps for a database. */
    const servers = 5
    const urlOf = (skip: Skip): string =>
      intoDatabase(pooler(skip).server.url, new URL(context.engine.server.url).pathname.slice(1))
    /** On every connection that the pooler has: while all of them are taken, nobody gets one twice. */
    const everywhere = async (pool: pg.Pool, sql: string): Promise<void> => {
      const keepers = await Promise.all(Array.from({ length: servers }, () => pool.connect()))
      await Promise.all(keepers.map((keeper) => keeper.query('begin')))
      for (const keeper of keepers) await keeper.query(sql)
      await Promise.all(keepers.map((keeper) => keeper.query('commit')))
      for (const keeper of keepers) keeper.release()
    }
    const open = async (url: string): Promise<readonly Session<pg.PoolClient>[]> => {
      const pool = poolOf(url, 4)
      return Promise.all(Array.from({ length: 4 }, () => sessions(pool).open()))
    }
    const round = async (all: readonly Session[]): Promise<unknown> =>
      Promise.all(all.map((session) => session.run(ask)))
    const answers = Array.from({ length: 4 }, () => [{ n: 7 }])
    /** What each of them sends for the statement. */
    const sent = async (all: readonly Session<pg.PoolClient>[]): Promise<readonly unknown[]> => {
      const spies = all.map(({ tx }) => vi.spyOn(tx, 'query'))
      await round(all)
      return spies.map((spy) => {
        const [[text, values] = []] = spy.mock.calls
        spy.mockRestore()
        // behind a name there is only who is told the answer
        return typeof text === 'string' ? [text, values] : text
      })
    }
    const plain = answers.map(() => [ask.sql, ask.params])
    const end = async (all: readonly Session[]): Promise<unknown> =>
      Promise.all(all.map((session) => session.release()))

    test('everything is answered, and without names once a server does not know one', async ({ skip }) => {
      const url = urlOf(skip)
      const unguarded = poolOf(url, servers)
      const alone = poolOf(url)
      const control = (): Promise<unknown> => alone.query({ name: 'control', text: 'select 1', values: [] })
      await control()
      await everywhere(unguarded, 'deallocate all')
      const refused = await control().catch((error: unknown) => error)
      if (!(refused instanceof pg.DatabaseError)) skip('this pooler knows prepared statements')
      expect(refused).toMatchObject({ code: '26000' })

      const all = await open(url)
      for (let count = 0; count < 20; count += 1) expect(await round(all)).toMatchObject(answers)
      await everywhere(unguarded, 'deallocate all')
      expect(await round(all)).toMatchObject(answers)
      expect(await sent(all)).toEqual(plain)
      await end(all)
    })

    test('everything is answered, and without names once a server has one from another client', async ({
      skip,
    }) => {
      const url = urlOf(skip)
      const unguarded = poolOf(url, servers)
      const [first, ...others] = await open(url)
      const [config] = (await sent([first as Session<pg.PoolClient>])) as [{ readonly name: string }]
      expect(config.name).toMatch(/^holdfast_/)
      await end([first as Session, ...others])
      await everywhere(unguarded, 'deallocate all')
      await everywhere(unguarded, `prepare "${config.name}" as ${ask.sql}`)

      const all = await open(url)
      expect(await round(all)).toMatchObject(answers)
      expect(await sent(all)).toEqual(plain)
      await end(all)
    })
  })
}
