import pg from 'pg'

import type { Scenario } from '../scenario.ts'
import { errorOf, outcomeOf } from '../stage.ts'
import { towardsNobody, towardsSilence } from './dead-address.ts'
import { client, cut, interrupted } from './postgres-stage.ts'
import { sql } from './sql.ts'

/** What the driver says by itself when the server ends a session that is doing nothing. */
function farewell(setting: string): Scenario['run'] {
  return async (stage) => {
    const raw = await client(stage)
    const error = new Promise((resolve) => raw.once('error', resolve))
    // as one, since a statement under way would be told instead
    await raw.query(`${setting === 'idle_session_timeout' ? '' : 'begin; '}set ${setting} = '20ms'`)
    return { error: await error }
  }
}

/** Every way in which a connection ends, as pg tells it. */
export const connectionScenarios: readonly Scenario[] = [
  {
    name: 'a session that is killed while it waits',
    expect: { kind: 'connection-lost', transaction: 'unknown', key: '57P01' },
    run: interrupted((stage, session) => stage.engine.kill(session)),
  },
  {
    name: 'the statement after that',
    expect: {
      kind: 'connection-lost',
      transaction: 'unknown',
      key: 'Client has encountered a connection error and is not queryable',
    },
    run: async (stage) => {
      const raw = await client(stage)
      const { rows } = await raw.query<{ id: string }>('select pg_backend_pid()::text as id')
      const ended = new Promise((resolve) => raw.once('end', resolve))
      await (await stage.open()).run(sql('select pg_terminate_backend($1)', Number(rows[0]?.id)))
      await ended
      return { error: await errorOf(raw.query('select 1')) }
    },
  },
  {
    name: 'a connection that breaks under a statement',
    expect: { kind: 'connection-lost', transaction: 'unknown', key: 'Connection terminated unexpectedly' },
    run: async (stage) => {
      const raw = await client(stage)
      const { error } = outcomeOf(raw.query('select pg_sleep(60)'))
      cut(raw)
      return { error: await error }
    },
  },
  {
    name: 'a statement under way when its client is closed',
    expect: { kind: 'connection-lost', transaction: 'unknown', key: 'Connection terminated' },
    run: async (stage) => {
      const raw = await client(stage)
      const { error } = outcomeOf(raw.query('select pg_sleep(60)'))
      void raw.end()
      return { error: await error }
    },
  },
  {
    name: 'a statement for a client that was closed',
    expect: {
      kind: 'connection-lost',
      transaction: 'unknown',
      key: 'Client was closed and is not queryable',
    },
    run: async (stage) => {
      const raw = await client(stage)
      await raw.end()
      return { error: await errorOf(raw.query('select 1')) }
    },
  },
  {
    name: 'a pool that gets no connection in time',
    expect: { kind: 'connection-lost', transaction: 'unknown', key: 'Connection terminated unexpectedly' },
    run: async (stage) => {
      const connectionString = await towardsSilence(stage.engine.server.url, stage)
      const pool = new pg.Pool({ connectionString, connectionTimeoutMillis: 50 })
      stage.afterwards(() => pool.end())
      return { error: await errorOf(pool.connect()) }
    },
  },
  {
    name: 'a server that is not there',
    expect: { kind: 'connection-lost', transaction: 'unknown', key: 'ECONNREFUSED', isAnybodys: true },
    run: async (stage) => {
      const raw = new pg.Client({ connectionString: await towardsNobody(stage.engine.server.url) })
      return { error: await errorOf(raw.connect()) }
    },
  },
  {
    name: 'a transaction that is idle for too long',
    expect: { kind: 'connection-lost', transaction: 'unknown', key: '25P03' },
    run: farewell('idle_in_transaction_session_timeout'),
  },
  {
    name: 'a transaction that takes too long',
    expect: { kind: 'connection-lost', transaction: 'unknown', key: '25P04' },
    since: '17',
    run: farewell('transaction_timeout'),
  },
  {
    name: 'a session that is idle for too long',
    expect: { kind: 'connection-lost', transaction: 'unknown', key: '57P05' },
    since: '14',
    run: farewell('idle_session_timeout'),
  },
  {
    name: "the driver's own time limit",
    expect: { kind: 'cancelled', transaction: 'unknown', key: 'Query read timeout' },
    run: async (stage) => {
      const raw = await client(stage, { query_timeout: 50 })
      const error = await errorOf(raw.query('select pg_sleep(60)'))
      stage.afterwards(() => cut(raw))
      return { error }
    },
  },
]
