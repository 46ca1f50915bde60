import mysql from 'mysql2/promise'
import pg from 'pg'
import postgres from 'postgres'
import { describe, expect, test } from 'vitest'

import type { Locks } from '../../src/index.ts'
import { UnsupportedLockError } from '../../src/core/errors.ts'
import { createLocks as createMysqlLocks } from '../../src/entries/mysql2.ts'
import { createLocks as createPgLocks } from '../../src/entries/pg.ts'
import { createLocks as createPostgresJsLocks } from '../../src/entries/postgres-js.ts'
import { useExtraServer } from '../engines/extra-server.ts'
import { startGalera } from '../engines/galera.ts'
import { intoDatabase } from '../engines/own-database.ts'
import { startPgBouncer } from '../engines/pgbouncer.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { caught, gate } from '../entries/stage.ts'

describeEngines(poolerSpecs, { only: ['postgres'] })

function poolerSpecs(context: EngineContext): void {
  const pgBouncer = useExtraServer(() => startPgBouncer(context.server, 'transaction'))
  const urlOf = (url: string): string =>
    intoDatabase(url, new URL(context.engine.server.url).pathname.slice(1))

  const waiters = async (): Promise<number> =>
    (await context.engine.leftovers()).filter((line) => line.includes('wants ExclusiveLock on advisory'))
      .length

  test('through PgBouncer in transaction mode, what can work works, and the rest is refused', async ({
    skip,
  }) => {
    const pool = new pg.Pool({ connectionString: urlOf(pgBouncer(skip).server.url), max: 3 })
    const locks = createPgLocks(pool)
    const [began, ending] = [gate(), gate()]
    const holder = locks.withLock('through', async () => {
      began.open()
      await ending.opened
    })
    await began.opened
    expect(await locks.tryLock('through', async () => 'in')).toEqual({ acquired: false })
    const next = locks.withLock('through', async () => 'in')
    await until(async () => (await waiters()) === 1, 'the second waits for the first')
    ending.open()
    await holder
    expect(await next).toBe('in')

    expect(await caught(locks.acquire('through'))).toBeInstanceOf(UnsupportedLockError)
    // above READ COMMITTED the lock has to come before the transaction, and so belongs to the connection
    const serializable = locks.withLock('through', async () => {}, { isolation: 'serializable' })
    expect(await caught(serializable)).toBeInstanceOf(UnsupportedLockError)

    const lease = await locks.lease('through')
    expect(await locks.fenced(lease, async () => 'in')).toBe('in')
    await lease.release()
    await until(async () => (await context.engine.leftovers()).length === 0, 'a server without locks')
    await pool.end()
  })

  const entries = [
    { name: 'pg', open: throughPg },
    { name: 'postgres.js', open: throughPostgresJs },
  ]
  test.for(entries)(
    'an aborted wait through PgBouncer and $name is over in the server',
    async (entry, { skip }) => {
      const direct = new pg.Pool({ connectionString: context.engine.server.url, max: 1 })
      const { wait, end } = entry.open(urlOf(pgBouncer(skip).server.url))
      const [began, ending] = [gate(), gate()]
      const holder = createPgLocks(direct).withLock('held', async () => {
        began.open()
        await ending.opened
      })
      await began.opened
      try {
        for (let round = 0; round < 5; round += 1) {
          const stop = new AbortController()
          const next = caught(wait(stop.signal))
          await until(async () => (await waiters()) === 1, 'the second waits for the first')
          stop.abort()
          expect(await next).toMatchObject({ name: 'AbortError' })
          expect(await waiters()).toBe(0)
        }
      } finally {
        ending.open()
        await holder
        await end()
        await direct.end()
      }
    },
  )
}

interface Opened {
  readonly wait: (signal: AbortSignal) => Promise<unknown>
  readonly end: () => Promise<void>
}

function waitBy<Tx>({ withLock }: Locks<Tx>): Opened['wait'] {
  return (signal) => withLock('held', async () => 'in', { signal })
}

function throughPg(connectionString: string): Opened {
  const pool = new pg.Pool({ connectionString, max: 3 })
  return { wait: waitBy(createPgLocks(pool)), end: () => pool.end() }
}

function throughPostgresJs(url: string): Opened {
  const sql = postgres(url, { max: 3, prepare: false })
  return { wait: waitBy(createPostgresJsLocks(sql)), end: () => sql.end() }
}

describe('a node of a Galera cluster', () => {
  const galera = useExtraServer(startGalera)

  test('gives no named lock of either scope, and a lease', async ({ skip }) => {
    const pool = mysql.createPool({ uri: galera(skip).server.url, connectionLimit: 3 })
    const locks = createMysqlLocks(pool)
    const refusal = { reason: expect.stringContaining('Galera'), instead: 'locks.lease(...)' }
    expect(await caught(locks.withLock('x', async () => {}))).toMatchObject(refusal)
    expect(await caught(locks.acquire('x'))).toMatchObject(refusal)
    await pool.query('create database if not exists holdfast_leases')
    await pool.end()
    const url = intoDatabase(galera(skip).server.url, 'holdfast_leases')
    const ours = mysql.createPool({ uri: url, connectionLimit: 3 })
    const leases = createMysqlLocks(ours)
    const lease = await leases.lease('x')
    expect(await leases.fenced(lease, async () => 'in')).toBe('in')
    await lease.release()
    await ours.end()
  })
})
