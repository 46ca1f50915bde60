import mssql from 'mssql'

import { isSql, type Row, type Value } from '../../src/core/statement.ts'
import type { EngineSession } from './engine.ts'

/** An address such as `mssql://sa:secret@localhost:1433/master?trustServerCertificate=true`, for the driver. */
export function mssqlConfig(url: string): mssql.config {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url)
  return {
    server: hostname.replace(/^\[(.*)\]$/, '$1'), // an IPv6 address
    port: Number(port || 1433),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)) || 'master',
    connectionTimeout: 120_000,
    requestTimeout: 0, // the driver's 15 s would end a wait that a test observes
    options: {
      encrypt: searchParams.get('encrypt') !== 'false',
      trustServerCertificate: searchParams.get('trustServerCertificate') === 'true',
    },
  }
}

/** Connections that are opened when needed. Their later failure does not end the test process. */
export async function connectMssql(config: mssql.config): Promise<mssql.ConnectionPool> {
  const pool = new mssql.ConnectionPool(config)
  pool.on('error', () => {})
  return pool.connect()
}

/**
 * The rows of the last result. Values are `@p1`, `@p2` and so on.
 *
 * Without values the text is sent as a batch. With values the server runs it inside of `sp_executesql`, which undoes
 * every SET at its end and objects when the number of open transactions has changed.
 */
export async function queryMssql(
  pool: mssql.ConnectionPool,
  sql: string,
  params: readonly Value[] = [],
): Promise<readonly Row[]> {
  const request = pool.request()
  params.forEach((value, index) => addInput(request, `p${index + 1}`, value))
  const result = await (params.length === 0 ? request.batch<Row>(sql) : request.query<Row>(sql))
  return [result.recordsets].flat().at(-1) ?? []
}

/** What the driver would guess for the others is not good enough: it rounds dates and knows Buffer only. */
function addInput(request: mssql.Request, name: string, value: Value): void {
  if (value instanceof Date) request.input(name, mssql.DateTime2(3), value)
  else if (value instanceof Uint8Array) request.input(name, mssql.VarBinary(mssql.MAX), Buffer.from(value))
  else if (typeof value === 'bigint') request.input(name, mssql.BigInt, value)
  else request.input(name, value)
}

/** The version of the server at this address. */
export async function mssqlVersion(url: string): Promise<string> {
  const pool = await connectMssql(mssqlConfig(url))
  try {
    const rows = await queryMssql(
      pool,
      "select cast(serverproperty('ProductVersion') as nvarchar(128)) as version",
    )
    return String(rows[0]?.version)
  } finally {
    await pool.close()
  }
}

/** One connection as tests use it: a pool of one, which must not open another when that one breaks. */
export async function openMssqlSession(url: string): Promise<EngineSession> {
  let isOpen = false
  let current: { readonly close: () => void } | undefined
  const pool = await connectMssql({
    ...mssqlConfig(url),
    pool: { min: 1, max: 1 },
    validateConnection: false, // no SELECT 1 before each statement
    beforeConnect: (connection) => {
      if (!isOpen) return void (current = connection)
      connection.close()
      throw new mssql.ConnectionError('the connection of this session is broken', 'ECONNCLOSED')
    },
  })
  const [first] = await queryMssql(pool, 'select @@spid as id') // connecting alone keeps no connection
  isOpen = true
  const say = async (sql: string): Promise<void> => void (await queryMssql(pool, sql))
  return {
    id: String(first?.id),
    run: async (statement) => {
      if (!isSql(statement)) throw new Error('SQL Server runs SQL statements only')
      return queryMssql(pool, statement.sql, statement.params)
    },
    // the mode is an isolation level, which stays with the connection
    begin: (mode) =>
      say(`${mode === undefined ? '' : `set transaction isolation level ${mode}; `}begin transaction`),
    commit: () => say('commit transaction'),
    rollback: () => say('rollback transaction'),
    close: async () => {
      current?.close() // the pool would wait for a statement that waits itself; the server rolls back what is open
      await pool.close()
    },
  }
}
