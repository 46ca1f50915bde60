import mysql from 'mysql2/promise'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'

import { sessions as mysqlSessions } from '../../src/adapters/mysql2/sessions.ts'
import { sessions as pgSessions } from '../../src/adapters/pg/sessions.ts'
import { LockLostError } from '../../src/core/errors.ts'
import type { Sessions } from '../../src/core/session.ts'
import { identify } from '../../src/locks/identify.ts'
import { createLeases, type Leases } from '../../src/locks/lease/lease.ts'
import { findDialect, type DialectName } from '../../src/registry.ts'
import { describeEngines, startPrivate, until, type EngineContext } from '../engines/use.ts'
import { startCuttingProxy, type CuttingProxy } from '../entries/cutting-proxy.ts'
import { caught } from '../entries/stage.ts'

const undo: (() => unknown)[] = []

afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step()
})

function leasesAt(engine: string, url: string): Leases {
  const sessions: Sessions = engine === 'postgres' ? onPg(url) : onMysql(url)
  return createLeases({
    sessions,
    server: identify({ dialects: [findDialect(engine as DialectName)], version: undefined }),
  })
}

function onPg(url: string): Sessions {
  const pool = new pg.Pool({ connectionString: url, max: 3 })
  pool.on('error', () => {})
  undo.push(() => pool.end())
  return pgSessions(pool, { prepare: false }) // the proxy knows a statement by its text
}

function onMysql(url: string): Sessions {
  const pool = mysql.createPool({ uri: url, connectionLimit: 3 })
  undo.push(() => pool.end())
  return mysqlSessions(pool)
}

describeEngines(specs, { only: ['postgres', 'mysql', 'mariadb'] })

function specs(context: EngineContext): void {
  const ask = { key: 'k', name: 'k' }

  const throughProxy = async (): Promise<[CuttingProxy, Leases]> => {
    const proxy = await startCuttingProxy(context.engine.server.url)
    undo.push(() => proxy.close())
    const leases = leasesAt(context.name, proxy.url)
    await (await leases.take(ask)).release() // makes the table, and learns what the server is
    return [proxy, leases]
  }

  const row = async (): Promise<{ owner: string | null; expiresAt: number }> => {
    const session = await context.engine.open()
    const [found] = await session.run({ sql: 'SELECT owner, expires_at FROM _leases', params: [] })
    await session.close()
    return { owner: found?.owner as string | null, expiresAt: Number(found?.expires_at) }
  }

  test('a silent server makes a lease lost before it ends on the server', async ({ skip }) => {
    const server = await startPrivate(context.name)
    if ('unavailable' in server) return skip(server.unavailable)
    undo.push(server.stop)
    const engine = await context.kind.connect(server.server)
    const leases = leasesAt(context.name, engine.server.url)
    const ttlMs = 3000
    const lease = await leases.take({ ...ask, options: { ttlMs } })
    let abortedAt = 0
    lease.signal.addEventListener('abort', () => (abortedAt = performance.now()))
    const leftMs = lease.remainingMs()
    const frozenAt = performance.now()
    await server.freeze()
    await until(() => abortedAt > 0, 'the loss')
    expect(leftMs).toBeLessThan(ttlMs)
    expect(abortedAt - frozenAt).toBeGreaterThanOrEqual(leftMs - 2) // a timer may be that early
    expect(lease.signal.reason).toBeInstanceOf(LockLostError)
    expect(await caught(lease.release())).toBeInstanceOf(LockLostError)
    await server.thaw()
    const next = await leases.take(ask)
    expect(next.fence).toBeGreaterThan(lease.fence)
    await next.release()
  })

  test('a renewal whose connection breaks is repeated on another one', async () => {
    const [proxy, leases] = await throughProxy()
    const ttlMs = 6000
    const lease = await leases.take({ ...ask, options: { ttlMs } })
    for (const when of ['before', 'after'] as const) {
      const before = await row()
      void proxy.cutAt('SET expires_at', when)
      await until(async () => (await row()).expiresAt > before.expiresAt + ttlMs * 0.4, 'two renewals')
    }
    expect(lease.signal.aborted).toBe(false)
    await lease.release()
  })

  test('a lease that was granted without an answer is given back, and asked for again', async () => {
    const [proxy, leases] = await throughProxy()
    void proxy.cutAt('INSERT INTO _leases', 'after')
    // longer than this test may take: it was given back, and has not run out
    const lease = await leases.take({ ...ask, options: { ttlMs: 3_600_000 } })
    expect((await row()).owner).toBe(lease.owner)
    await lease.release()
  })

  test('whoever does not wait hears of the broken connection, and leaves nothing', async () => {
    const [proxy, leases] = await throughProxy()
    void proxy.cutAt('INSERT INTO _leases', 'after')
    expect(await caught(leases.take({ ...ask, options: { wait: 'nowait' } }))).toBeInstanceOf(Error)
    await until(async () => (await row()).owner === null, 'a lease without an owner')
  })
}
