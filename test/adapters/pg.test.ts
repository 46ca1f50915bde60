import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { sessions } from '../../src/adapters/pg/sessions.ts'
import { classifyError } from '../../src/classify.ts'
import type { Session } from '../../src/core/session.ts'
import type { Row, Value } from '../../src/core/statement.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'

describeEngines(specs, { only: ['postgres'] })

function specs(context: EngineContext): void {
  let pool: pg.Pool
  beforeAll(() => {
    // with no listener on its clients, as applications have it
    pool = new pg.Pool({ connectionString: context.engine.server.url, max: 2 })
    pool.on('error', () => {})
  })
  afterAll(() => pool.end())

  const open = (): Promise<Session> => sessions(pool).open()
  const ask = async (session: Session, sql: string, ...params: Value[]): Promise<Row | undefined> =>
    (await session.run({ sql, params }))[0]
  const pidOf = async (session: Session): Promise<number> =>
    (await ask(session, 'select pg_backend_pid() as pid'))?.pid as number
  const isOnServer = async (pid: number): Promise<boolean> => {
    const observer = await context.engine.open()
    const found = await observer.run({ sql: 'select 1 from pg_stat_activity where pid = $1', params: [pid] })
    await observer.close()
    return found.length > 0
  }

  test.each(['read uncommitted', 'read committed', 'repeatable read', 'serializable'] as const)(
    'the server says that a transaction is %s when that was asked, and forgets it afterwards',
    async (isolation) => {
      const session = await open()
      const before = await ask(session, 'show transaction_isolation')
      await session.begin({ isolation, access: 'read-only' })
      expect(await ask(session, 'show transaction_isolation')).toEqual({ transaction_isolation: isolation })
      expect(await ask(session, 'show transaction_read_only')).toEqual({ transaction_read_only: 'on' })
      await session.commit()
      expect(await ask(session, 'show transaction_isolation')).toEqual(before)
      await session.release()
    },
  )

  test('snapshot is refused: it is no level of PostgreSQL', async () => {
    const session = await open()
    await expect(session.begin({ isolation: 'snapshot' })).rejects.toMatchObject({ field: 'isolation' })
    await session.release()
  })

  test('a released connection is used again', async () => {
    const first = await open()
    const pid = await pidOf(first)
    await first.release()
    const second = await open()
    expect(await pidOf(second)).toBe(pid)
    await second.release()
  })

  test("a destroyed session's connection ends on the server", async () => {
    const session = await open()
    const pid = await pidOf(session)
    expect(await isOnServer(pid)).toBe(true)
    await session.destroy(new Error('for the test'))
    await until(async () => !(await isOnServer(pid)), `the end of backend ${pid}`)
  })

  test('destroy ends a wait for a lock, and with it all that the transaction held, while the lock stays taken', async () => {
    const holder = await context.engine.open()
    await holder.run({ sql: 'select pg_advisory_lock($1)', params: [7] })
    const session = await open()
    const pid = await pidOf(session)
    await session.begin()
    await session.run({ sql: 'select pg_advisory_xact_lock($1)', params: [8n] })
    const waiting = session
      .run({ sql: 'select pg_advisory_xact_lock($1)', params: [7n] })
      .catch((error: unknown) => error)
    await until(() => context.engine.isWaiting({ ...holder, id: String(pid) }), 'the session waits')
    await session.destroy(new Error('for the test'))
    expect(await waiting).toBeInstanceOf(Error)
    await until(async () => !(await isOnServer(pid)), `the end of backend ${pid}`)
    expect(await holder.run({ sql: 'select pg_try_advisory_lock(8) as isFree', params: [] })).toEqual([
      { isfree: true },
    ])
    await holder.close()
  })

  test('a connection that the server ends between two statements makes the next one reject, and nothing else', async () => {
    const session = await open()
    const pid = await pidOf(session)
    const observer = await context.engine.open()
    await observer.run({ sql: 'select pg_terminate_backend($1)', params: [pid] })
    await observer.close()
    await until(
      () =>
        session.run({ sql: 'select 1', params: [] }).then(
          () => false,
          () => true,
        ),
      'an error of the next statement',
    )
    await session.destroy(new Error('for the test'))
    const next = await open()
    expect(await pidOf(next)).not.toBe(pid)
    await next.release()
  })

  test('listeners do not pile up on a connection that is used again and again', async () => {
    const client = await pool.connect()
    const before = client.listenerCount('error')
    client.release()
    for (let round = 0; round < 5; round += 1) await (await open()).release()
    const again = await pool.connect()
    expect(again.listenerCount('error')).toBe(before)
    again.release()
  })

  test('of several statements in one text, the last one answers', async () => {
    const session = await open()
    expect(await session.run({ sql: 'begin; select 1 as a; select 2 as b', params: [] })).toEqual([{ b: 2 }])
    await session.rollback()
    await session.release()
  })

  test('what a refused COMMIT means is what the error meant that was caught', async () => {
    const session = await open()
    await session.begin()
    await expect(
      session.run({ sql: 'do $$ begin raise sqlstate $e$40P01$e$; end $$', params: [] }),
    ).rejects.toThrow()
    const refused: unknown = await session.commit().catch((error: unknown) => error)
    expect(classifyError(refused)).toMatchObject({ kind: 'deadlock', retryable: true })
    await session.rollback()
    await session.release()
  })
}
