import { Kysely, MysqlDialect, sql } from 'kysely'
import mysql from 'mysql2'
import { describe, expect, test } from 'vitest'

import { CommitOutcomeUnknownError } from '../../src/core/errors.ts'
import { createLocks as kyselyLocks } from '../../src/entries/kysely.ts'
import { createLocks as mysqlLocks } from '../../src/entries/mysql2.ts'
import type { SharedLocks } from '../../src/locks.ts'
import type { EngineSession } from '../engines/engine.ts'
import { describeEngines, until } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'
import { describeClients, type Client } from './client.ts'

const step = (id: number): string => `update item set n = n + 1 where id = ${id}`

describeClients((scene) => {
  const idOf = async (client: Client, tx: unknown): Promise<string> => {
    const ask = scene.name === 'postgres' ? 'pg_backend_pid()' : 'connection_id()'
    return String((await client.query(tx, `select ${ask} as id`))[0]?.id)
  }
  const kill = (id: string): Promise<void> => scene.engine.kill({ id } as EngineSession)
  const counted = async (client: Client): Promise<number> =>
    Number((await client.query(undefined, 'select n from item where id = 1'))[0]?.n)

  test('a connection that is lost and whose error the work catches is another attempt', async () => {
    const client = scene.connect(2)
    let runs = 0
    await client.locks.transaction(
      async (tx) => {
        runs += 1
        await client.query(tx, step(1))
        if (runs > 1) return
        await kill(await idOf(client, tx))
        await until(async () => (await caught(client.query(tx, 'select 1'))) !== 'no error', 'the end')
      },
      { backoff: { baseMs: 1 } },
    )
    expect(runs).toBe(2)
    expect(await counted(client)).toBe(1)
  })
})

describe('while a procedure runs that has committed', () => {
  describeClients(
    (scene) => {
      test('nobody knows what is stored, and the work is not run again', async () => {
        const [client, rival] = [scene.connect(2), scene.connect(1)]
        await client.query(undefined, 'drop procedure if exists commits')
        await client.query(undefined, `create procedure commits() begin commit; ${step(2)}; end`)
        let runs = 0
        await rival.locks.transaction(async (held) => {
          await rival.query(held, step(2))
          const said = client.locks.transaction(async (tx) => {
            runs += 1
            await client.query(tx, step(1))
            const [row] = await client.query(tx, 'select connection_id() as id')
            const session = { id: String(row?.id) } as EngineSession
            const call = client.query(tx, 'call commits()')
            await Promise.race([call, until(() => scene.engine.isWaiting(session), 'the procedure waits')])
            await scene.engine.kill(session)
            await call
          })
          expect(await caught(said)).toBeInstanceOf(CommitOutcomeUnknownError)
        })
        expect(runs).toBe(1)
      })
    },
    ['mysql', 'mariadb'],
  )
})

describe('while the work does something else, so that COMMIT is never sent', () => {
  interface Way {
    readonly locks: SharedLocks<unknown>
    readonly send: (tx: unknown, text: string) => Promise<unknown>
  }
  const ways: Readonly<Record<string, (pool: mysql.Pool, name: 'mysql' | 'mariadb') => Way>> = {
    mysql2: (pool) => ({
      locks: mysqlLocks(pool.promise()) as SharedLocks<unknown>,
      send: (tx, text) => (tx as { query(text: string): Promise<unknown> }).query(text),
    }),
    Kysely: (pool, name) => ({
      locks: kyselyLocks(new Kysely<unknown>({ dialect: new MysqlDialect({ pool }) }), {
        dialect: name,
      }) as SharedLocks<unknown>,
      send: (tx, text) => sql.raw(text).execute(tx as Kysely<unknown>),
    }),
  }

  describeEngines(
    (context) => {
      test.each(Object.entries(ways))('is another attempt through %s', async (_, wayOn) => {
        const pool = mysql.createPool({ uri: context.engine.server.url, connectionLimit: 1 })
        const opened: { readonly threadId: number | null; readonly closed: Promise<void> }[] = []
        pool.on('connection', (connection) => {
          const { stream } = connection as unknown as { readonly stream: NodeJS.EventEmitter }
          const closed = new Promise<void>((resolve) => void stream.once('close', resolve))
          opened.push({ threadId: connection.threadId, closed })
        })
        const { locks, send } = wayOn(pool, context.name as 'mysql' | 'mariadb')
        const outside = pool.promise()
        await outside.query('drop table if exists journal')
        await outside.query('create table journal (run integer)')
        let runs = 0
        await locks.transaction(
          async (tx) => {
            runs += 1
            await send(tx, `insert into journal values (${runs})`)
            if (runs > 1) return
            await context.engine.kill({ id: String(opened.at(-1)?.threadId) } as EngineSession)
            await opened.at(-1)?.closed
          },
          { backoff: { baseMs: 1 } },
        )
        expect((await outside.query('select run from journal'))[0]).toEqual([{ run: 2 }])
        await outside.end()
      })
    },
    { only: ['mysql', 'mariadb'] },
  )
})
