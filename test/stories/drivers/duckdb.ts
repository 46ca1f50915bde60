import type { DuckDBConnection, DuckDBValue } from '@duckdb/node-api'

import type { Row, Value } from '../../../src/core/statement.ts'
import { createLocks } from '../../../src/entries/duckdb.ts'
import { loadDuckdb } from '../../engines/duckdb-driver.ts'
import type { Driver } from '../shop.ts'
import { sqlStore } from '../sql-store.ts'

const shops = new Map<string, number>()

/** How many shops this process has open on a file, each with one connection that is no transaction's. */
function openShops(url: string, more = 0): number {
  const count = (shops.get(url) ?? 0) + more
  shops.set(url, count)
  return count
}

export const driver: Driver<DuckDBConnection> = {
  hasProcesses: false,
  // The second change of a row is refused; an added row conflicts with nothing.
  controls: { change: 'before', add: 'in-transaction' },
  waits: 'transaction',
  isOwnError: (error) => error instanceof Error && /^\w+ Error: /.test(error.message),
  takesText: false,
  refusesUnknownTable: true,
  canBeClosed: false, // the instance belongs to everybody who has it from the cache
  connect: async (url) => {
    const instance = await (await loadDuckdb()).DuckDBInstance.fromCache(url)
    const own = await instance.connect()
    openShops(url, 1)
    const run = async (
      connection: DuckDBConnection,
      sql: string,
      params: readonly Value[] = [],
    ): Promise<readonly Row[]> =>
      (await connection.runAndReadAll(sql, params as DuckDBValue[])).getRowObjectsJS()
    return {
      ...sqlStore<DuckDBConnection>({
        run: (tx, sql, params) => run(tx ?? own, sql, params),
        parameter: (position) => `$${position}`,
      }),
      locks: createLocks(instance),
      sessionId: () => 'none: DuckDB has no name for a connection',
      settings: () => run(own, 'SELECT name, value FROM duckdb_settings() ORDER BY name'),
      tune: async () => {}, // every transaction has a connection of its own, which nobody had before
      leftovers: async () => {
        const [row] = await run(own, 'SELECT count FROM duckdb_connection_count()')
        const more = Number(row?.count) - openShops(url)
        return more > 0 ? [`${more} connections of transactions are open`] : []
      },
      close: async () => {
        own.disconnectSync()
        openShops(url, -1)
      },
    }
  },
}
