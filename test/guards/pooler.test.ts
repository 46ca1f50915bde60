import { setTimeout as pause } from 'node:timers/promises'

import { afterEach, describe, expect, test } from 'vitest'

import { LockError, UnsupportedLockError } from '../../src/core/errors.ts'
import { emit } from '../../src/emit.ts'
import { createProbe } from '../../src/locks/named/probe.ts'
import { registry } from '../../src/registry.ts'
import { useExtraServer } from '../engines/extra-server.ts'
import { intoDatabase } from '../engines/own-database.ts'
import { startPgBouncer } from '../engines/pgbouncer.ts'
import { openPostgresSession } from '../engines/postgres-session.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { endLock, takeLock } from '../emit/run-plan.ts'
import { throughKysely, throughPg, type Connect, type Guarded } from './stage.ts'

describeEngines(specs, { only: ['postgres'] })

function specs(context: EngineContext): void {
  const transactionMode = useExtraServer(() => startPgBouncer(context.server, 'transaction'))
  const sessionMode = useExtraServer(() => startPgBouncer(context.server, 'session'))
  const inOurs = (url: string): string =>
    intoDatabase(url, new URL(context.engine.server.url).pathname.slice(1))

  const opened: Guarded[] = []
  afterEach(async () => {
    for (const guarded of opened.splice(0)) await guarded.close()
    await until(async () => (await context.engine.leftovers()).length === 0, 'a server without locks')
  })
  const use = (connect: Connect, url: string, max?: number): Guarded => {
    const guarded = connect(inOurs(url), max)
    opened.push(guarded)
    return guarded
  }

  describe.each([
    { title: 'pg', connect: throughPg },
    { title: 'kysely', connect: throughKysely },
  ])('$title', ({ connect }) => {
    test('without a pooler, the locks of a connection are trusted', async () => {
      const { check } = use(connect, context.server.url)
      await check()
      await check()
    })

    test('behind PgBouncer in session mode they are trusted', async ({ skip }) => {
      const { check } = use(connect, sessionMode(skip).server.url)
      await check()
    })

    test('behind PgBouncer in transaction mode they are refused, every time, and the way out is named', async ({
      skip,
    }) => {
      const { check } = use(connect, transactionMode(skip).server.url)
      for (let time = 0; time < 3; time += 1) {
        const refused: unknown = await check().catch((error: unknown) => error)
        expect(refused).toBeInstanceOf(UnsupportedLockError)
        expect(refused).toMatchObject({
          category: 'advisory',
          reason: expect.stringContaining('pooler'),
          instead: expect.stringMatching(/withLock.*locks\.lease/),
        })
      }
    })

    test('while other clients keep the servers of a transaction pooler busy, they are refused', async ({
      skip,
    }) => {
      const { url } = transactionMode(skip).server
      const traffic = use(connect, url, 6)
      const { check } = use(connect, url)
      const isOver = new AbortController()
      const clients = Array.from({ length: 6 }, async () => {
        const session = await traffic.sessions.open()
        while (!isOver.signal.aborted) await session.run({ sql: 'select pg_sleep(0.001)', params: [] })
        await session.release()
      })
      const verdicts: string[] = []
      for (let time = 0; time < 20; time += 1) {
        verdicts.push(
          await check().then(
            () => 'trusted',
            (error: unknown) => (error as Error).name,
          ),
        )
      }
      isOver.abort()
      await Promise.all(clients)
      expect(new Set(verdicts)).toEqual(new Set(['UnsupportedLockError']))
    })

    test('callers that hold every connection of a pool between them are all answered', async ({ skip }) => {
      for (const [url, outcome] of [
        [context.server.url, 'fulfilled'],
        [sessionMode(skip).server.url, 'fulfilled'],
        [transactionMode(skip).server.url, 'rejected'],
      ] as const) {
        const { sessions, probe } = use(connect, url, 4)
        const held = await Promise.all(Array.from({ length: 4 }, () => sessions.open()))
        const answers = await Promise.allSettled(held.map(probe))
        expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 4 }, () => outcome))
        await Promise.all(held.map((session) => session.release()))
      }
    })
  })

  test('a pooler that gives each of two its own server again and again is refused all the same', async ({
    skip,
  }) => {
    const { sessions, probe } = use(throughKysely, transactionMode(skip).server.url, 3)
    const [session, third] = [await sessions.open(), await sessions.open()]
    let isFirst = true
    const run: typeof session.run = async (statement) => {
      if (!isFirst) return session.run(statement)
      isFirst = false
      // another client's server comes back last, so the second connection is lent that one
      await third.begin({ head: [{ sql: 'select 1', params: [] }] })
      const rows = await session.run(statement)
      await third.rollback()
      return rows
    }
    const refused: unknown = await probe({ ...session, run }).catch((error: unknown) => error)
    await session.release()
    await third.release()
    expect(String(refused)).toContain('a pooler gives each transaction a different server connection')
  })

  test('a server that somebody else uses in between is refused, though every number stays the same', async () => {
    const { sessions, probe } = use(throughKysely, context.server.url)
    const session = await sessions.open()
    const run: typeof session.run = async (statement) => {
      await session.run({ sql: 'select 1', params: [] }) // as the pooler's next client would
      return session.run(statement)
    }
    await expect(probe({ ...session, run })).rejects.toThrow(
      /a pooler gives each transaction a different server connection/,
    )
    await probe(session)
    await session.release()
  })

  test('where a second connection is needed and cannot be had, the refusal says so and nothing hangs', async () => {
    const { sessions, probe } = use(throughKysely, context.server.url, 1)
    const session = await sessions.open()
    await expect(probe(session)).rejects.toThrow(/detecting a pooler takes a second connection/)
    await session.release()
  })

  test('a slow server is waited for longer than a fast one: to be slow is no reason', async () => {
    const { sessions } = use(throughKysely, context.server.url)
    const dialect = registry.postgres
    const probe = createProbe({
      sessions: { ...sessions, open: () => new Promise<never>(() => {}) }, // a connection that never comes
      server: async () => ({ dialect, version: dialect.readVersion(dialect.versions.assumed) }),
    })
    const session = await sessions.open()
    const run: typeof session.run = (statement) => pause(200).then(() => session.run(statement))
    const refused: unknown = await probe({ ...session, run }).catch((error: unknown) => error)
    await session.release()
    expect(refused).toBeInstanceOf(LockError)
    expect(String(refused)).not.toContain('within 2000 ms')
  })

  test('two clients of a transaction pooler can both take the lock of a connection: the refusal is deserved', async ({
    skip,
  }) => {
    const url = inOurs(transactionMode(skip).server.url)
    const [a, b] = [await openPostgresSession(url), await openPostgresSession(url)]
    const take = { sql: 'select pg_try_advisory_lock(4711) as taken', params: [] }
    expect([await a.run(take), await b.run(take)]).toEqual([[{ taken: true }], [{ taken: true }]])
    await a.run({ sql: 'select pg_advisory_unlock_all()', params: [] })
    await Promise.all([a.close(), b.close()])
  })

  test("a transaction's lock excludes through a transaction pooler, and ends with the transaction", async ({
    skip,
  }) => {
    const url = inOurs(transactionMode(skip).server.url)
    const plan = emit('postgres', 'advisory', { key: 'through a pooler' })
    const [a, b] = [await openPostgresSession(url), await openPostgresSession(url)]
    await takeLock(a, plan)
    const waiting = takeLock(b, plan)
    const waiters = async (): Promise<number> =>
      (await context.engine.leftovers()).filter((line) => line.includes('wants ExclusiveLock on advisory'))
        .length
    await until(async () => (await waiters()) === 1, 'the second waits for the first')
    await endLock(a, plan)
    await waiting
    await endLock(b, plan)
    await Promise.all([a.close(), b.close()])
  })
}
