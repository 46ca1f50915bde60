import pg from 'pg'
import { afterEach, beforeAll, expect, test } from 'vitest'

import * as pgAdapter from '../../src/adapters/pg/sessions.ts'
import { classifyError } from '../../src/classify.ts'
import { joinLocks } from '../../src/locks.ts'
import { registry } from '../../src/registry.ts'
import { useExtraServer } from '../engines/extra-server.ts'
import { intoDatabase } from '../engines/own-database.ts'
import { startPgBouncer } from '../engines/pgbouncer.ts'
import { startStandby } from '../engines/postgres-server.ts'
import { describeEngines, startPrivate, until, type EngineContext } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'
import { findingIn, idsIn, observedIn, type Attestation } from './stage.ts'

async function attestAt(url: string): Promise<Attestation> {
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  pool.on('error', () => {})
  try {
    return await joinLocks(pgAdapter.sessions(pool), [registry.postgres]).attest()
  } finally {
    await pool.end()
  }
}

/** Has the leases to itself until the server goes away: a trial that wants one waits. */
async function holdLeases(url: string): Promise<{ readonly hasWaiter: () => Promise<boolean> }> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  await client.query('begin')
  await client.query('lock table _leases in access exclusive mode')
  return {
    hasWaiter: async () => {
      const { rowCount } = await client.query('select 1 from pg_locks where not granted')
      return rowCount === 1
    },
  }
}

describeEngines(specs, { only: ['postgres'] })

function specs(context: EngineContext): void {
  const standby = useExtraServer(startStandby)
  const pgBouncer = useExtraServer(() => startPgBouncer(context.server, 'transaction'))
  const sessionBouncer = useExtraServer(() => startPgBouncer(context.server, 'session'))
  const databaseOf = (): string => new URL(context.engine.server.url).pathname.slice(1)
  const run = async (...statements: readonly string[]): Promise<void> => {
    const session = await context.engine.open()
    // whatever the database's own default is at the moment
    for (const sql of ['set default_transaction_read_only = off', ...statements])
      await session.run({ sql, params: [] })
    await session.close()
  }
  const set = (name: string, value: string): Promise<void> =>
    run(`alter database ${databaseOf()} set ${name} = '${value}'`)
  const attest = (): Promise<Attestation> => attestAt(context.engine.server.url)

  /** As a server should be; the one that tests use is careless. */
  const good = {
    synchronous_commit: 'on',
    lock_timeout: '10s',
    deadlock_timeout: '1s',
    default_transaction_isolation: 'read committed',
  }
  beforeAll(async () => {
    for (const [name, value] of Object.entries(good)) await set(name, value)
  })
  afterEach(async () => {
    for (const [name, value] of Object.entries(good)) await set(name, value)
  })

  test('a server as it should be has no findings but that it does not wait for its disk', async () => {
    expect(idsIn(await attest())).toEqual(['fsync-off'])
  })

  test.each([
    ['synchronous_commit', 'off', 'commit-not-durable', 'warning'],
    ['lock_timeout', '0', 'lock-timeout-unlimited', 'note'],
    ['deadlock_timeout', '30s', 'deadlocks-found-late', 'warning'],
    ['default_transaction_isolation', 'repeatable read', 'isolation-default', 'warning'],
    ['idle_in_transaction_session_timeout', '60s', 'idle-in-transaction-timeout', 'note'],
    ['statement_timeout', '60s', 'statement-timeout', 'note'],
    ['transaction_timeout', '60s', 'transaction-timeout', 'note'],
    ['idle_session_timeout', '10s', 'idle-session-timeout', 'warning'],
    ['default_transaction_read_only', 'on', 'read-only-by-default', 'warning'],
  ])('%s = %s is found, and only that', async (setting, value, id, severity) => {
    const [known] = (await query(`select name from pg_settings where name = '${setting}'`)).rows
    if (known === undefined) return // older servers do not have it
    await set(setting, value)
    const attestation = await attest()
    await run(`alter database ${databaseOf()} reset ${setting}`)
    expect(idsIn(attestation).filter((one) => one !== 'fsync-off')).toEqual([id])
    expect(findingIn(attestation, id)).toMatchObject({ severity })
    expect(Object.values(observedIn(attestation))).not.toContain('broken')
  })

  const query = async (sql: string): Promise<pg.QueryResult> => {
    const client = new pg.Client(context.engine.server.url)
    await client.connect()
    return client.query(sql).finally(() => client.end())
  }

  test('an old snapshot that is open is found, a young one is not', async () => {
    const session = await context.engine.open()
    await session.run({ sql: 'begin isolation level repeatable read', params: [] })
    await session.run({ sql: 'select 1', params: [] })
    const isFound = async (): Promise<boolean> => idsIn(await attest()).includes('old-snapshot')
    // the server is shared: others have snapshots too, which grow old as well
    await until(async () => !(await isFound()), 'no old snapshot')
    await run('do $$ begin for i in 1..10100 loop perform txid_current(); commit; end loop; end $$')
    expect(findingIn(await attest(), 'old-snapshot')).toMatchObject({
      severity: 'warning',
      title: expect.stringMatching(/^\d+ sessions? keeps? an old snapshot open$/),
    })
    await session.run({ sql: 'rollback', params: [] })
    await session.close()
    await until(async () => !(await isFound()), 'no old snapshot any more')
  })

  test('a role without rights is told what it may not do, and nothing is thrown', async () => {
    await run(
      'revoke all on schema public from public',
      'drop role if exists holdfast_guest',
      'create role holdfast_guest login',
    )
    const url = new URL(context.engine.server.url)
    url.username = 'holdfast_guest'
    const { capabilities, findings } = await attestAt(url.href)
    const of = (name: string): unknown => capabilities.find(({ capability }) => capability === name)
    expect(of('lease')).toMatchObject({
      observed: 'refused',
      detail: expect.stringMatching(/holdfast schema/),
    })
    expect(of('row-exclusive')).toMatchObject({ observed: 'untried' })
    expect(of('advisory')).toMatchObject({ observed: 'holds' })
    expect(of('advisory-session')).toMatchObject({ observed: 'holds' })
    // the observer of the tests is another role's
    expect(findings.map(({ id }) => id)).toContain('sessions-hidden')
    await run('drop role holdfast_guest')
  })

  test('functions that lock nothing are found', async () => {
    await run(
      'create schema stubs',
      "create function stubs.pg_try_advisory_lock(bigint) returns boolean language sql as 'select true'",
      "create function stubs.pg_advisory_unlock(bigint) returns boolean language sql as 'select true'",
    )
    const url = new URL(context.engine.server.url)
    url.searchParams.set('options', '-csearch_path=stubs,public,pg_catalog')
    const attestation = await attestAt(url.href)
    expect(findingIn(attestation, 'advisory-stub')).toMatchObject({ severity: 'error' })
    expect(observedIn(attestation)).toMatchObject({ 'advisory-session': 'refused', lease: 'holds' })
    await run('drop schema stubs cascade')
  })

  test('PgBouncer in transaction mode is found by what it does, and the rest works', async ({ skip }) => {
    const attestation = await attestAt(intoDatabase(pgBouncer(skip).server.url, databaseOf()))
    expect(findingIn(attestation, 'pooler-transaction-mode')).toMatchObject({ severity: 'warning' })
    const { 'advisory-session': session, ...others } = observedIn(attestation)
    expect(session).toBe('refused')
    expect(new Set(Object.values(others))).toEqual(new Set(['holds']))
  })

  test('PgBouncer in session mode is as good as none', async ({ skip }) => {
    const attestation = await attestAt(intoDatabase(sessionBouncer(skip).server.url, databaseOf()))
    expect(idsIn(attestation)).not.toContain('pooler-transaction-mode')
    expect(new Set(Object.values(observedIn(attestation)))).toEqual(new Set(['holds']))
  })

  test('a standby is found, and nothing is thrown', async ({ skip }) => {
    const attestation = await attestAt(standby(skip).server.url)
    expect(attestation.findings[0]).toMatchObject({ id: 'standby', severity: 'error' })
    expect(Object.values(observedIn(attestation))).not.toContain('holds')
    expect(Object.values(observedIn(attestation))).not.toContain('broken')
  })

  test('a server that goes away meanwhile is an error, and not a finding', async ({ skip }) => {
    const server = await startPrivate('postgres')
    if ('unavailable' in server) return skip(server.unavailable)
    const { url } = server.server
    await attestAt(url)
    const leases = await holdLeases(url)
    const running = caught(attestAt(url))
    await until(leases.hasWaiter, 'a trial that is under way')
    await server.stop()
    expect(classifyError(await running).kind).toBe('connection-lost')
  })

  test('a small lock table is found', async ({ skip }) => {
    const server = await startPrivate('postgres')
    if ('unavailable' in server) return skip(server.unavailable)
    try {
      expect(idsIn(await attestAt(server.server.url))).not.toContain('lock-table-small')
      const client = new pg.Client(server.server.url)
      await client.connect()
      await client.query('alter system set max_locks_per_transaction = 16')
      await client.end()
      await server.restart()
      expect(findingIn(await attestAt(server.server.url), 'lock-table-small')).toMatchObject({
        severity: 'warning',
        title: expect.stringContaining('= 16'),
      })
    } finally {
      await server.stop()
    }
  })
}
