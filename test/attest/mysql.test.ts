import mysql from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import * as mysql2Adapter from '../../src/adapters/mysql2/sessions.ts'
import { joinLocks } from '../../src/locks.ts'
import { registry } from '../../src/registry.ts'
import { useExtraServer } from '../engines/extra-server.ts'
import { startGalera } from '../engines/galera.ts'
import { downloadedMariadb, mariadbData, mariadbSettings } from '../engines/mariadb-programs.ts'
import { startMysqlServer } from '../engines/mysql-server.ts'
import { intoDatabase } from '../engines/own-database.ts'
import { describeEngines, startPrivate, type EngineContext, type PrivateServer } from '../engines/use.ts'
import { findingIn, idsIn, observedIn, type Attestation } from './stage.ts'

async function attestAt(url: string): Promise<Attestation> {
  const pool = mysql.createPool({ uri: url, connectionLimit: 2 })
  try {
    return await joinLocks(mysql2Adapter.sessions(pool), [registry.mysql, registry.mariadb]).attest()
  } finally {
    await pool.end()
  }
}

async function runAt(url: string, ...statements: readonly string[]): Promise<void> {
  const connection = await mysql.createConnection(url)
  for (const sql of statements) await connection.query(sql)
  await connection.end()
}

describeEngines(specs, { only: ['mysql', 'mariadb'] })

function specs(context: EngineContext): void {
  const isMariadb = context.name === 'mariadb'
  let server: PrivateServer | undefined
  let reason = 'it was not started'
  beforeAll(async () => {
    const started = await startPrivate(context.name)
    if ('unavailable' in started) reason = started.unavailable
    else {
      server = started
      await run('create database ours')
    }
  }, 600_000)
  afterAll(() => server?.stop())
  const url = (): string => intoDatabase(server?.server.url ?? '', 'ours')
  const run = (...statements: readonly string[]): Promise<void> =>
    runAt(server?.server.url ?? '', ...statements)
  const isolation = isMariadb ? 'tx_isolation' : 'transaction_isolation'
  const asItShouldBe = [
    `set global ${isolation} = 'READ-COMMITTED'`,
    'set global innodb_flush_log_at_trx_commit = 1',
  ]

  test('a server as it should be has no findings', async ({ skip }) => {
    if (server === undefined) return skip(reason)
    await run(...asItShouldBe)
    expect(idsIn(await attestAt(url()))).toEqual([])
  })

  const settings: readonly (readonly [string, string, string, string, string])[] = [
    ['innodb_flush_log_at_trx_commit', '0', '1', 'commit-not-durable', 'warning'],
    [isolation, "'REPEATABLE-READ'", "'READ-COMMITTED'", 'isolation-default', 'note'],
    [isolation, "'SERIALIZABLE'", "'READ-COMMITTED'", 'isolation-default', 'warning'],
    ['innodb_lock_wait_timeout', '1000', '50', 'lock-wait-long', 'warning'],
    ['innodb_lock_wait_timeout', '2', '50', 'lock-wait-short', 'note'],
    ['autocommit', '0', '1', 'autocommit-off', 'warning'],
    ['default_storage_engine', 'MyISAM', 'InnoDB', 'storage-engine', 'warning'],
    ['innodb_deadlock_detect', 'OFF', 'ON', 'deadlock-detection-off', 'warning'],
    ...(isMariadb ? [['innodb_snapshot_isolation', 'ON', 'OFF', 'snapshot-isolation', 'note'] as const] : []),
  ]
  test.each(settings)('%s = %s is found, and only that', async (setting, bad, good, id, severity) => {
    if (server === undefined) return
    await run(...asItShouldBe, `set global ${setting} = ${bad}`)
    const attestation = await attestAt(url())
    await run(`set global ${setting} = ${good}`)
    expect(idsIn(attestation)).toEqual([id])
    expect(findingIn(attestation, id)).toMatchObject({ severity })
    expect(Object.values(observedIn(attestation))).not.toContain('broken')
  })

  test('a read-only server is found, and nothing is thrown', async ({ skip }) => {
    if (server === undefined) return skip(reason)
    await run('create user if not exists guest', 'grant all on ours.* to guest', 'set global read_only = 1')
    const asGuest = new URL(url())
    asGuest.username = 'guest'
    const attestation = await attestAt(asGuest.href)
    await run('set global read_only = 0', 'drop user guest')
    expect(attestation.findings[0]).toMatchObject({ id: 'read-only', severity: 'error' })
    expect(observedIn(attestation)).toMatchObject({ advisory: 'refused', 'advisory-session': 'refused' })
    expect(Object.values(observedIn(attestation))).not.toContain('broken')
  })

  if (!isMariadb) {
    test('a member of a group with several primaries is found', async ({ skip }) => {
      if (server === undefined) return skip(reason)
      await run(
        "install plugin group_replication soname 'group_replication.so'",
        'set global group_replication_single_primary_mode = off',
      )
      const attestation = await attestAt(url())
      expect(findingIn(attestation, 'several-primaries')).toMatchObject({ severity: 'warning' })
      expect(observedIn(attestation)).toMatchObject({ advisory: 'refused', lease: 'holds' })
    })
  }
}

describe('a node of a Galera cluster', () => {
  const galera = useExtraServer(startGalera)

  test('is found, gives no named lock, and the rest works', async ({ skip }) => {
    const { url } = galera(skip).server
    await runAt(url, 'create database if not exists holdfast_attest')
    const attestation = await attestAt(intoDatabase(url, 'holdfast_attest'))
    expect(findingIn(attestation, 'galera')).toMatchObject({ severity: 'warning' })
    expect(idsIn(attestation)).toContain('performance-schema-off')
    expect(observedIn(attestation)).toMatchObject({
      advisory: 'refused',
      'advisory-session': 'refused',
      'row-exclusive': 'holds',
      lease: 'holds',
    })
  })
})

describe('a server that rolls back on a timeout, and keeps no lists of locks', () => {
  const careless = useExtraServer(async () => {
    const programs = await downloadedMariadb()
    const data = await mariadbData(programs)
    const args = [...mariadbSettings, '--innodb-rollback-on-timeout=ON']
    return startMysqlServer({ engine: 'rollback', origin: 'download', programs, data, args, isMariadb: true })
  })

  test('is found to do so, and its locks work', async ({ skip }) => {
    const { url } = careless(skip).server
    await runAt(url, 'create database if not exists holdfast_attest')
    const attestation = await attestAt(intoDatabase(url, 'holdfast_attest'))
    expect(findingIn(attestation, 'rollback-on-timeout')).toMatchObject({ severity: 'warning' })
    expect(findingIn(attestation, 'performance-schema-off')).toMatchObject({ severity: 'note' })
    expect(observedIn(attestation)).toMatchObject({ 'lock-timeout': 'holds', advisory: 'holds' })
  })
})
