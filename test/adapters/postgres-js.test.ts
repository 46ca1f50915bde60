import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

import { sessions } from '../../src/adapters/postgres-js/sessions.ts'
import { classifyError } from '../../src/classify.ts'
import { LockUsageError } from '../../src/core/errors.ts'
import { createLocks } from '../../src/entries/postgres-js.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { gate } from '../entries/stage.ts'
import { steps } from './delayed-answers.ts'

describeEngines(specs, { only: ['postgres'] })

function specs(context: EngineContext): void {
  let sql: postgres.Sql
  const open = (options: postgres.Options<{}> = {}): postgres.Sql =>
    postgres(context.engine.server.url, { max: 2, onnotice: () => {}, ...options })
  beforeAll(async () => {
    sql = open()
    await sql`create table note (id int primary key, body text, data jsonb, at timestamptz, raw bytea)`
  })
  beforeEach(() => sql`truncate note`)
  afterAll(() => sql.end({ timeout: 5 }))

  const ids = async (): Promise<readonly number[]> =>
    (await sql<{ id: number }[]>`select id from note order by id`).map(({ id }) => id)
  const kill = (pid: number): Promise<unknown> => sql`select pg_terminate_backend(${pid})`
  const pidOf = async (tx: postgres.ISql): Promise<number> =>
    (await tx<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid ?? 0

  const untilEnded = (session: number): Promise<void> =>
    until(async () => {
      const [row] = await sql`select count(*)::int as n from pg_stat_activity where pid = ${session}`
      return row?.n === 0
    }, 'the end of the connection')

  test('a connection that ends between two statements fails the next one, and the process goes on', async () => {
    const own = open()
    const locks = createLocks(own)
    let attempts = 0
    const work = async (tx: postgres.TransactionSql): Promise<number> => {
      attempts += 1
      await tx`insert into note (id) values (1)`
      const session = await pidOf(tx)
      if (attempts === 1) {
        await kill(session)
        await untilEnded(session)
      }
      await tx`select 1`
      return attempts
    }
    await expect(locks.transaction(work)).resolves.toBe(2)
    expect(await ids()).toEqual([1])
    await own.end({ timeout: 5 })
  })

  test('what a connection was sent before its end is not missing in the answers after it', async () => {
    const own = open({ max: 1 })
    // the server sends the row, and ends the connection before the end of the statement
    const cut = () => own.unsafe('select pg_terminate_backend(pg_backend_pid())')
    const first = async (): Promise<unknown> => (await own`select 1 as n`)[0]
    await expect(cut()).rejects.toThrow()
    // postgres.js by itself tells the next one of the end, and the first row of the one behind is missing
    await expect(first()).rejects.toThrow('terminating connection')
    expect(await first()).toBeUndefined()
    await expect(cut()).rejects.toThrow()
    const lease = await createLocks(own).lease('nightly', { ttlMs: 30_000, wait: 'nowait' })
    await lease.release()
    expect(await first()).toEqual({ n: 1 })
    await own.end({ timeout: 5 })
  })

  test('work may give a list of queries, as to begin', async () => {
    const locks = createLocks(sql)
    const insert = (tx: postgres.ISql, id: number) => tx`insert into note (id) values (${id})`
    const list = (tx: postgres.ISql): Promise<unknown> => [insert(tx, 1), insert(tx, 2)] as never
    await locks.transaction(list)
    await locks.transaction((tx) => tx.savepoint((inner) => [insert(inner, 3)]))
    expect(await ids()).toEqual([1, 2, 3])
  })

  test('a query that is cancelled before anybody asks for it holds up nothing', async () => {
    const said = await createLocks(sql).transaction(async (tx) => {
      const query = tx`select 1`
      query.cancel()
      const error = await query.catch((why: unknown) => why)
      await tx`insert into note (id) values (1)`
      return String(error)
    })
    expect(said).toContain('canceling statement')
    expect(await ids()).toEqual([1])
  })

  test('an abort while a cursor is open ends the transaction, and not the process', async () => {
    const own = open()
    await sql`insert into note select generate_series(1, 9)`
    const stop = new AbortController()
    const isOver = gate()
    const call = createLocks(own).transaction(
      async (tx) => {
        const session = await pidOf(tx)
        try {
          for await (const _ of tx`select id from note`.cursor(1)) {
            stop.abort(new Error('enough'))
            await untilEnded(session)
          }
        } finally {
          isOver.open()
        }
      },
      { signal: stop.signal },
    )
    await expect(call).rejects.toThrow('enough')
    // the next piece is asked for when the connection is gone: an error behind that would fail this file
    await isOver.opened
    await own.end({ timeout: 1 })
  })

  test('work that throws leaves no cursor open', async () => {
    await sql`insert into note select generate_series(1, 9)`
    const call = createLocks(sql).transaction(async (tx) => {
      await tx`select id from note`.cursor(1)[Symbol.asyncIterator]().next()
      throw new Error('mine')
    })
    await expect(call).rejects.toThrow('mine')
  })

  test('a copy that the server refuses ends with its error', async () => {
    await sql`insert into note (id) values (1)`
    const call = createLocks(sql).transaction(async (tx) => {
      const stream = await tx`copy note (id) from stdin`.writable()
      await pipeline(Readable.from(['2\n', '1\n']), stream)
    })
    await expect(call).rejects.toThrow(/duplicate key/)
    expect(await ids()).toEqual([1])
  })

  test('a copy that is left in its middle holds up nothing', async () => {
    await createLocks(sql).transaction(async (tx) => {
      const stream =
        await tx`copy (select repeat('x', 1000) from generate_series(1, 20000)) to stdout`.readable()
      for await (const _ of stream) break
      await tx`insert into note (id) values (1)`
    })
    expect(await ids()).toEqual([1])
  })

  test.each([
    ['boolean', 16],
    ['int4', 23],
    ['text', 25],
  ])('a type of the application that changes what Holdfast reads is refused: %s', async (_, from) => {
    const parse = (text: string): object => ({ text })
    const own = open({ types: { own: { to: from, from: [from], serialize: String, parse } } })
    expect(() => createLocks(own)).toThrow('its option types changes the rows that Holdfast reads')
    await own.end({ timeout: 5 })
  })

  test('every statement that waits behind another hears of the end of the connection', async () => {
    const own = open()
    const locks = createLocks(own)
    const answers = locks.transaction(
      async (tx) => {
        const session = await pidOf(tx)
        const all = [1, 2, 3].map((n) => tx`select pg_sleep(60), ${n}::int`)
        const settled = Promise.allSettled(all)
        await kill(session)
        const states = (await settled).map(({ status }) => status)
        expect(states).toEqual(['rejected', 'rejected', 'rejected'])
        throw new Error('seen')
      },
      { attempts: 1 },
    )
    await expect(answers).rejects.toThrow('seen')
    // two connections, and neither is lost to the pool
    await Promise.all([1, 2].map(() => locks.transaction((tx) => tx`select 1`)))
    await own.end({ timeout: 5 })
  })

  test('connections are had where the types of arrays are not fetched, and with one connection', async () => {
    const own = open({ fetch_types: false, max: 1, prepare: false })
    const locks = createLocks(own)
    for (const id of [1, 2])
      await locks.withLock(['note', id], (tx) => tx`insert into note (id) values (${id})`)
    expect(await own`select 1 as one`).toEqual([{ one: 1 }])
    expect(await ids()).toEqual([1, 2])
    await own.end({ timeout: 5 })
  })

  test('values of Holdfast arrive as they are, whatever the column', async () => {
    const session = await sessions(sql).open()
    const at = new Date('2026-11-16T12:34:56.789Z')
    const params = [1, 'it is "text"', '{"a": [1, null]}', at, Buffer.from([0, 255])]
    await session.run({ sql: 'insert into note values ($1, $2, $3, $4, $5)', params })
    const read = {
      sql: 'select *, $1::bool as yes, $2::int8 as many, $3::text as none from note',
      params: [true, 9_007_199_254_740_993n, null],
    }
    const [row] = await session.run(read)
    await session.release()
    expect(row).toEqual({
      id: 1,
      body: 'it is "text"',
      data: { a: [1, null] },
      at,
      raw: Buffer.from([0, 255]),
      yes: true,
      many: '9007199254740993',
      none: null,
    })
  })

  test('a value that postgres.js cannot send fails its own statement, and no other', async () => {
    await createLocks(sql).transaction(async (tx) => {
      const [first, second, third] = await Promise.allSettled([
        tx`select 1 as n`,
        tx`select ${undefined as unknown as number} as n`,
        tx`select 3 as n`,
      ])
      expect(first).toMatchObject({ status: 'fulfilled', value: [{ n: 1 }] })
      expect(second).toMatchObject({ status: 'rejected', reason: { code: 'UNDEFINED_VALUE' } })
      expect(third).toMatchObject({ status: 'fulfilled', value: [{ n: 3 }] })
    })
  })

  test('rows that are changed before Holdfast reads them are refused at once', () => {
    expect(() => createLocks(postgres({ transform: postgres.camel }))).toThrow(/transform/)
    expect(() => createLocks({} as postgres.Sql)).toThrow(LockUsageError)
  })

  test('what would leave the transaction is refused', async () => {
    await createLocks(sql).transaction(async (tx) => {
      const all = tx as unknown as postgres.ReservedSql
      for (const name of [
        'begin',
        'reserve',
        'listen',
        'subscribe',
        'largeObject',
        'end',
        'release',
      ] as const)
        expect(() => (all[name] as () => unknown)()).toThrow(LockUsageError)
      await expect(tx`commit`).rejects.toThrow(LockUsageError)
      await expect(tx`${tx`rollback`}`).rejects.toThrow(LockUsageError)
      await expect(tx.unsafe('insert into note (id) values (1); commit')).rejects.toThrow(LockUsageError)
    })
    expect(await ids()).toEqual([])
  })

  test('COMMIT after a swallowed error is an error, and stores nothing', async () => {
    const call = createLocks(sql).transaction(async (tx) => {
      await tx`insert into note (id) values (1)`
      await tx`select 1 / 0`.catch(() => {})
    })
    await expect(call).rejects.toThrow(/nothing is stored/)
    expect(await ids()).toEqual([])
  })

  test('COMMIT waits for statements that nobody awaits, and fails with them', async () => {
    const locks = createLocks(sql)
    await locks.transaction(async (tx) => void tx`insert into note (id) values (1)`.execute())
    expect(await ids()).toEqual([1])
    const call = locks.transaction(async (tx) => {
      void tx`insert into note (id) values (2)`.execute()
      tx`insert into note (id) values (1)`.catch(() => {})
    })
    await expect(call).rejects.toThrow(/did not await/)
    expect(await ids()).toEqual([1])
  })

  test('a savepoint undoes what its work did when that throws, and two at once take turns', async () => {
    await createLocks(sql).transaction(async (tx) => {
      const answers = await Promise.allSettled([
        tx.savepoint('a', async (inner) => {
          await inner`insert into note (id) values (1)`
          throw new Error('for the test')
        }),
        tx.savepoint(async (inner) => inner`insert into note (id) values (2)`),
      ])
      expect(answers.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
    })
    expect(await ids()).toEqual([2])
  })

  test('what is sent while a savepoint is on its way is not undone with it in silence', async () => {
    const locks = createLocks(sql)
    const beside = async (end: () => void): Promise<readonly string[]> =>
      locks.transaction(async (tx) => {
        await tx`select 1`
        const nested = tx.savepoint(async (inner) => {
          await inner`insert into note (id) values (1)`
          end()
        })
        // it is in line behind the savepoint
        await steps(20)
        const answers = await Promise.allSettled([nested, tx`insert into note (id) values (2)`])
        return answers.map(({ status }) => status)
      })
    const failing = beside(() => {
      throw new Error('for the test')
    })
    await expect(failing).rejects.toThrow('and with it what was sent beside it')
    expect(await ids()).toEqual([])
    expect(await beside(() => {})).toEqual(['fulfilled', 'fulfilled'])
    expect(await ids()).toEqual([1, 2])
  })

  test('a cursor is read piece by piece; one that is left open fails the transaction', async () => {
    const locks = createLocks(sql)
    const pieces = await locks.transaction(async (tx) => {
      const seen: number[] = []
      for await (const rows of tx`select generate_series(1, 5) as n`.cursor(2)) seen.push(rows.length)
      for await (const _ of tx`select generate_series(1, 5) as n`.cursor(2)) break
      await tx`insert into note (id) values (1)`
      return seen
    })
    expect(pieces).toEqual([2, 2, 1])
    const call = locks.transaction(async (tx) => {
      await tx`insert into note (id) values (2)`
      const cursor = tx`select generate_series(1, 5) as n`.cursor(2)[Symbol.asyncIterator]()
      await cursor.next()
    })
    await expect(call).rejects.toMatchObject({ cause: { message: expect.stringContaining('was open') } })
    expect(await ids()).toEqual([1])
  })

  test('a COPY is stored with the rest; one that is left open fails the transaction', async () => {
    const locks = createLocks(sql)
    const copy = async (tx: postgres.TransactionSql, isEnded: boolean): Promise<void> => {
      const stream = await tx`copy note (id) from stdin`.writable()
      stream.write('7\n')
      if (isEnded) await new Promise<void>((resolve) => stream.end(resolve))
    }
    await locks.transaction((tx) => copy(tx, true))
    expect(await ids()).toEqual([7])
    await expect(locks.transaction((tx) => copy(tx, false))).rejects.toThrow(LockUsageError)
    expect(await ids()).toEqual([7])
  })

  test('a text in a file runs in the transaction, or is refused with it', async () => {
    const file = join(tmpdir(), `holdfast-${process.pid}.sql`)
    const locks = createLocks(sql)
    await writeFile(file, 'insert into note (id) values ($1) returning id')
    const rows = await locks.transaction((tx) => tx.file(file, [3]))
    expect(rows).toEqual([{ id: 3 }])
    await writeFile(file, 'commit')
    await expect(locks.transaction((tx) => tx.file(file))).rejects.toThrow(LockUsageError)
  })

  test('the ends of its connections are known as such', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const [killed, ended, dropped, late] = [
      open(),
      open(),
      open(),
      open({ host: '127.0.0.1', port, connect_timeout: 0.05 }),
    ]
    const session = await pidOf(killed)
    const dies = killed`select pg_sleep(60)`.catch((error: unknown) => error)
    await until(
      async () =>
        (await sql`select 1 from pg_stat_activity where pid = ${session} and wait_event = 'PgSleep'`).length >
        0,
      'a statement',
    )
    await kill(session)
    const falls = dropped`select pg_sleep(60)`.catch((error: unknown) => error)
    await Promise.all([ended.end(), dropped.end({ timeout: 0 })])
    const errors = [await dies, await ended`select 1`.catch((error: unknown) => error), await falls]
    errors.push(await late`select 1`.catch((error: unknown) => error))
    expect(errors.map((error) => (error as { code?: unknown }).code)).toEqual([
      'CONNECTION_CLOSED',
      'CONNECTION_ENDED',
      'CONNECTION_DESTROYED',
      'CONNECT_TIMEOUT',
    ])
    expect(errors.map((error) => classifyError(error).kind)).toEqual(Array(4).fill('connection-lost'))
    // without, postgres.js waits for the query that the connection broke under
    await killed.end({ timeout: 0 })
    silent.close()
  })

  test('tx is refused after the end', async () => {
    const kept = await createLocks(sql).transaction(async (tx) => tx)
    await expect(kept`select 1`).rejects.toThrow(LockUsageError)
  })

  test('a session lock is given back, and its holder is told of the end of its connection', async () => {
    const own = open()
    const locks = createLocks(own)
    const held = await locks.acquire('crew', { scope: 'session' })
    const [lock] = await sql<
      { pid: number }[]
    >`select pid from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`
    await kill(lock?.pid ?? 0)
    await until(async () => held.signal.aborted, 'the signal of a lost lock')
    await expect(locks.tryLock('crew', async () => 'free')).resolves.toEqual({
      acquired: true,
      value: 'free',
    })
    await own.end({ timeout: 5 })
  })
}
