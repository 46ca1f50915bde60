import mysql, { type Connection, type RowDataPacket } from 'mysql2/promise'

import { isSql, type Row, type Value } from '../../src/core/statement.ts'
import type { EngineSession } from './engine.ts'

/** A connection that speaks MySQL's protocol, to MySQL or MariaDB. Its later failure does not end the test process. */
export async function connectMysql(url: string): Promise<Connection> {
  const connection = await mysql.createConnection({ uri: url, connectTimeout: 120_000 })
  connection.on('error', () => {})
  return connection
}

/** Runs one statement; rows, or none for a statement that gives no rows. */
export async function queryMysql(
  connection: Connection,
  sql: string,
  params: readonly Value[] = [],
): Promise<Row[]> {
  const values = params.map((value) => (value instanceof Uint8Array ? Buffer.from(value) : value))
  const [result] = await connection.query<RowDataPacket[]>(sql, values)
  return Array.isArray(result) ? result : []
}

/** The version of the server at this address. Rejects when it is the other of the two. */
export async function mysqlVersion(url: string, isMariadb: boolean): Promise<string> {
  const connection = await connectMysql(url)
  try {
    const [row] = await queryMysql(connection, 'select version() as version')
    const version = String(row?.version)
    if (/mariadb/i.test(version) !== isMariadb) throw new Error(`this is another server: ${version}`)
    return version
  } finally {
    await connection.end()
  }
}

/** One connection as tests use it. */
export async function openMysqlSession(url: string): Promise<EngineSession> {
  const connection = await connectMysql(url)
  const say = async (sql: string): Promise<void> => void (await connection.query(sql))
  return {
    id: String(connection.threadId),
    run: (statement) => {
      if (!isSql(statement)) throw new Error('MySQL runs SQL statements only')
      return queryMysql(connection, statement.sql, statement.params)
    },
    begin: (mode = '') => say(`start transaction ${mode}`),
    commit: () => say('commit'),
    rollback: () => say('rollback'),
    close: () => connection.end().catch(() => connection.destroy()), // it may be gone: killed, or its server ended
  }
}
