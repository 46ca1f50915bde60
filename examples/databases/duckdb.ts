import { DuckDBInstance, type DuckDBConnection, type DuckDBValue } from '@duckdb/node-api'
import { createLocks } from 'holdfast/duckdb'

import type { Database } from './database.ts'
import { sqlTables, type Send } from './tables.ts'

/** Outside of transactions one statement at a time: two that change a row in the same moment would be refused. */
let lastAlone: Promise<unknown> = Promise.resolve()

export const database: Database<DuckDBConnection> = {
  isBlindToOthers: false, // the second change of a row is refused
  connect: async ({ name }) => {
    // one process only can have the file open, and all of that process share one instance
    const instance = await DuckDBInstance.fromCache(name)
    const own = await instance.connect()
    return {
      locks: createLocks(instance),
      tables: (tx) =>
        sqlTables((sql, params) => {
          if (tx !== undefined) return send(tx, sql, params)
          const answer = lastAlone.then(() => send(own, sql, params))
          lastAlone = answer.catch(() => {})
          return answer
        }),
      close: async () => {
        own.disconnectSync()
        instance.closeSync()
      },
    }
  },
}

async function send(connection: DuckDBConnection, ...[sql, params]: Parameters<Send>): ReturnType<Send> {
  return (await connection.runAndReadAll(sql, params as DuckDBValue[])).getRowObjectsJS()
}
