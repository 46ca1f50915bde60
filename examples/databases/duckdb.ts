import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { DuckDBInstance, type DuckDBConnection, type DuckDBValue } from '@duckdb/node-api'
import type { Row, Value } from 'holdfast'
import { createLocks } from 'holdfast/duckdb'

import type { Database } from './database.ts'

export async function create(): Promise<Database<DuckDBConnection>> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-example-'))
  return {
    isolation: 'snapshot',
    connect: async () => {
      // one process only can have the file open, and all of that process share one instance
      const instance = await DuckDBInstance.fromCache(join(folder, 'story.duckdb'))
      const own = await instance.connect()
      return {
        locks: createLocks(instance),
        query: (tx, sql, params) => query(tx, sql, params),
        queryAlone: (sql) => query(own, sql, []),
        close: async () => own.disconnectSync(),
      }
    },
    drop: () => rm(folder, { recursive: true }),
  }
}

async function query(
  connection: DuckDBConnection,
  sql: string,
  params: readonly Value[],
): Promise<readonly Row[]> {
  return (await connection.runAndReadAll(sql, params as DuckDBValue[])).getRowObjectsJS()
}
