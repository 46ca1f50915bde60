import pg from 'pg'

import { isSql } from '../../src/core/statement.ts'
import type { EngineSession } from './engine.ts'

/** A connection whose later failure does not end the test process: whoever runs a statement on it hears of it. */
export async function connectPostgres(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 120_000 })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** The version of the server at this address. */
export async function postgresVersion(url: string): Promise<string> {
  const client = await connectPostgres(url)
  try {
    const { rows } = await client.query<{ server_version: string }>('show server_version')
    return rows[0]?.server_version ?? 'unknown'
  } finally {
    await client.end()
  }
}

/** One connection as tests use it. */
export async function openPostgresSession(url: string): Promise<EngineSession> {
  const client = await connectPostgres(url)
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const say = async (text: string): Promise<void> => void (await client.query(text))
  return {
    id: String(rows[0]?.pid),
    run: async (statement) => {
      if (!isSql(statement)) throw new Error('PostgreSQL runs SQL statements only')
      const { sql, params } = statement
      // without values the simple protocol is used, in which one text may hold several statements
      const result: unknown = await client.query(sql, params.length === 0 ? undefined : [...params])
      return (Array.isArray(result) ? (result.at(-1) as pg.QueryResult) : (result as pg.QueryResult)).rows
    },
    begin: (mode) => say(mode === undefined ? 'begin' : `begin ${mode}`),
    commit: () => say('commit'),
    rollback: () => say('rollback'),
    close: () => client.end().catch(() => {}), // it may be gone already: killed, or its server ended
  }
}
