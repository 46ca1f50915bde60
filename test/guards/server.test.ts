import { afterEach, describe, expect, test } from 'vitest'

import { UnsupportedLockError } from '../../src/core/errors.ts'
import type { Session } from '../../src/core/session.ts'
import { isSql } from '../../src/core/statement.ts'
import { registry } from '../../src/registry.ts'
import { useExtraServer } from '../engines/extra-server.ts'
import { startGalera } from '../engines/galera.ts'
import { startStandby } from '../engines/postgres-server.ts'
import { connectPostgres } from '../engines/postgres-session.ts'
import { describeEngines, startPrivate, type EngineContext } from '../engines/use.ts'
import { tsqlParsers } from '../emit/tsql-parsers.ts'
import { throughKysely, throughMysql2, throughPg, type Guarded } from './stage.ts'

const undo: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step()
})

function use(guarded: Guarded): Guarded {
  undo.push(guarded.close)
  return guarded
}

async function refusal({ check }: Guarded): Promise<UnsupportedLockError> {
  const error: unknown = await check().catch((caught: unknown) => caught)
  if (!(error instanceof UnsupportedLockError)) return expect.unreachable(`not refused: ${String(error)}`)
  return error
}

describeEngines(postgresSpecs, { only: ['postgres'] })
describeEngines(mysqlSpecs, { only: ['mysql', 'mariadb'] })

function postgresSpecs(context: EngineContext): void {
  const standby = useExtraServer(startStandby)
  const run = async (...statements: readonly string[]): Promise<void> => {
    const session = await context.engine.open()
    for (const sql of statements) await session.run({ sql, params: [] })
    await session.close()
  }
  /** A schema with functions of these answers, which are found before the real ones. */
  const fake = async (taken: boolean): Promise<string> => {
    await run(
      'create schema if not exists stubs',
      `create or replace function stubs.pg_try_advisory_lock(bigint) returns boolean language sql as 'select ${taken}'`,
      "create or replace function stubs.pg_advisory_unlock(bigint) returns boolean language sql as 'select true'",
    )
    const url = new URL(context.engine.server.url)
    url.searchParams.set('options', '-csearch_path=stubs,pg_catalog')
    return url.href
  }

  test.for([
    { title: 'pg', connect: throughPg },
    { title: 'kysely', connect: throughKysely },
  ])('a standby is refused: $title', async ({ connect }, { skip }) => {
    const error = await refusal(use(connect(standby(skip).server.url)))
    expect(error).toMatchObject({
      reason: expect.stringContaining('standby'),
      instead: 'connect to the primary',
    })
  })

  test.each([true, false])('functions that answer %s and lock nothing are refused', async (taken) => {
    const error = await refusal(use(throughPg(await fake(taken))))
    expect(error.reason).toContain('lock nothing')
    expect(error.instead).toContain('locks.lease')
  })

  test('the check sees its own lock, and leaves none, a hundred times', async () => {
    const { sessions } = use(throughPg(context.engine.server.url))
    const { doubts } = registry.postgres.named
    if (doubts === undefined) return expect.unreachable()
    const session = await sessions.open()
    for (let time = 0; time < 100; time += 1) {
      const rows = await session.run(doubts.ask)
      expect(rows).toMatchObject([{ standby: false, taken: true, listed: true, freed: true }])
      expect(doubts.read(rows)).toBeUndefined()
    }
    expect(await context.engine.leftovers()).toEqual([])
    await session.release()
  })

  test.each([
    'enable_material = off',
    'enable_nestloop = off',
    'plan_cache_mode = force_generic_plan',
    'debug_parallel_query = on', // which was force_parallel_mode before 16
    'force_parallel_mode = on',
    'jit_above_cost = 0',
    'default_transaction_isolation = serializable',
    'default_transaction_read_only = on',
  ])('its steps keep their order with %s', async (setting) => {
    const { doubts } = registry.postgres.named
    const ask = doubts !== undefined && isSql(doubts.ask) ? doubts.ask.sql : expect.unreachable()
    const client = await connectPostgres(context.engine.server.url)
    const [name = '', value = ''] = setting.split(' = ')
    await client.query('select set_config(name, $2, false) from pg_settings where name = $1', [name, value])
    // a named statement is planned once for all
    for (const prepared of [{}, { name: 'check' }, { name: 'check' }]) {
      const { rows } = await client.query({ text: ask, ...prepared })
      expect(rows).toMatchObject([{ taken: true, listed: true, freed: true }])
    }
    await client.end()
    expect(await context.engine.leftovers()).toEqual([])
  })

  test('a check that failed is repeated, and one that went well is not', async () => {
    const url = await fake(true)
    const guarded = use(throughPg(url, 1))
    await refusal(guarded)
    await run('drop schema stubs cascade')
    const session = await guarded.sessions.open()
    await guarded.probe({ ...session, backend: await backendOf(session) })
    let asked = 0
    const counted = { ...session, run: () => Promise.reject(new Error(`asked ${(asked += 1)}`)) }
    await guarded.probe(counted)
    expect(asked).toBe(0)
    await session.release()
  })
}

async function backendOf(session: Session): Promise<string> {
  const [row] = await session.run({ sql: 'select pg_backend_pid()::text as backend', params: [] })
  return String(row?.backend)
}

function mysqlSpecs(context: EngineContext): void {
  const dialect = context.name as 'mysql' | 'mariadb'

  test('a server that stands alone is trusted', async () => {
    await use(throughMysql2(context.engine.server.url, dialect)).check()
  })

  const settings = {
    'a read-only server': { statements: ['set global read_only = 1'], reason: 'read-only' },
    ...(dialect === 'mysql' && {
      'a member of a group with several primaries': {
        statements: [
          "install plugin group_replication soname 'group_replication.so'",
          'set global group_replication_single_primary_mode = off',
        ],
        reason: 'several primaries',
      },
    }),
  }
  test.for(Object.entries(settings))('%s is refused', async ([, { statements, reason }], { skip }) => {
    const server = await startPrivate(dialect)
    if ('unavailable' in server) return skip(server.unavailable)
    undo.push(server.stop)
    const { url } = server.server
    const guarded = use(throughMysql2(url, dialect))
    const session = await guarded.sessions.open()
    for (const sql of statements) await session.run({ sql, params: [] })
    await session.release()
    expect((await refusal(guarded)).reason).toContain(reason)
  })

  if (dialect === 'mariadb') {
    const galera = useExtraServer(startGalera)
    test('a node of a Galera cluster is refused, and the lease named', async ({ skip }) => {
      const error = await refusal(use(throughMysql2(galera(skip).server.url, dialect)))
      expect(error).toMatchObject({ reason: expect.stringContaining('Galera'), instead: 'locks.lease(...)' })
    })
  }
}

describe('SQL Server, which does not run here', () => {
  const { doubts } = registry.mssql.named

  test('a database that can only be read is refused, and another is not', () => {
    expect(doubts?.read([{ updateability: 'READ_ONLY' }])).toMatchObject({
      instead: 'connect to the primary',
    })
    expect(doubts?.read([{ updateability: 'READ_WRITE' }])).toBeUndefined()
  })

  test('both parsers accept what it is asked', async () => {
    const parsers = await tsqlParsers()
    expect(parsers.length).toBeGreaterThanOrEqual(2)
    const text = doubts !== undefined && isSql(doubts.ask) ? doubts.ask.sql : ''
    expect(text).toContain('Updateability')
    for (const { problem } of parsers) expect(problem(text)).toBeUndefined()
  })
})
