import type { Row } from 'holdfast'
import { createLocks } from 'holdfast/mssql'
import mssql from 'mssql'

import { intoDatabase, type Database } from './database.ts'
import { numbered, sqlTables } from './tables.ts'

/** SQL Server. The compiler has checked this file; no server has run it yet. */
export const database: Database<mssql.Transaction> = {
  isBlindToOthers: true,
  connect: async ({ url, name, size }) => {
    const pool = await new mssql.ConnectionPool(configOf(intoDatabase(url, name), size)).connect()
    return {
      locks: createLocks(pool),
      tables: (tx) =>
        sqlTables(async (sql, params) => {
          const request = tx === undefined ? pool.request() : tx.request()
          params.forEach((value, index) => request.input(`p${index + 1}`, value))
          return (await request.query<Row>(numbered(sql, '@p'))).recordset ?? []
        }),
      close: () => pool.close(),
    }
  },
}

function configOf(url: string, max: number): mssql.config {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url)
  return {
    server: hostname,
    port: Number(port || 1433),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: pathname.slice(1),
    pool: { max },
    options: {
      encrypt: searchParams.get('encrypt') !== 'false',
      trustServerCertificate: searchParams.get('trustServerCertificate') === 'true',
    },
  }
}
