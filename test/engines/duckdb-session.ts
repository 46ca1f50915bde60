import { setTimeout as pause } from 'node:timers/promises'

import type { DuckDBConnection, DuckDBType, DuckDBValue } from '@duckdb/node-api'

import { isSql, type Row, type Value } from '../../src/core/statement.ts'
import type { Duckdb } from './duckdb-driver.ts'
import type { EngineSession } from './engine.ts'

export interface DuckdbSession extends EngineSession {
  readonly hasTransaction: () => Promise<boolean>
}

/** One connection as tests use it. */
export function openDuckdbSession(driver: Duckdb, connection: DuckDBConnection, id: string): DuckdbSession {
  const running = new Set<Promise<unknown>>()
  let isOpen = true
  const query = (sql: string, params: readonly Value[] = []): Promise<readonly Row[]> => {
    const rows = ask(driver, connection, { sql, params })
    running.add(rows)
    rows.catch(() => {}).finally(() => running.delete(rows))
    return rows
  }
  return {
    id,
    run: async (statement) => {
      if (!isSql(statement)) throw new Error('DuckDB runs SQL statements only')
      return query(statement.sql, statement.params)
    },
    begin: async (mode) => void (await query(mode === undefined ? 'begin' : `begin transaction ${mode}`)),
    commit: async () => void (await query('commit')),
    rollback: async () => void (await query('rollback')),
    hasTransaction: async () => isOpen && hasTransaction(query),
    close: async () => {
      isOpen = false
      // Disconnecting under a running statement can hang the whole process (1.5.6), so that one is ended first. An
      // interrupt that comes before the statement has begun is lost: it is repeated.
      while (running.size > 0) {
        connection.interrupt()
        await Promise.race([Promise.allSettled(running), pause(20)])
      }
      connection.disconnectSync() // rolls back what is open
    },
  }
}

async function ask(
  driver: Duckdb,
  connection: DuckDBConnection,
  { sql, params }: { readonly sql: string; readonly params: readonly Value[] },
): Promise<readonly Row[]> {
  // by number, not as a list: only so may a type be left to the driver
  const values = Object.fromEntries(params.map((value, index) => [index + 1, toDuckdb(driver, value)]))
  const types = Object.fromEntries(params.map((value, index) => [index + 1, typeOf(driver, value)]))
  const reader = await connection.runAndReadAll(sql, values, types)
  // a changing statement answers with a row that counts, where others have none
  return reader.returnType === driver.ResultReturnType.QUERY_RESULT ? reader.getRowObjectsJS() : []
}

/** DuckDB lists no transactions, but each statement outside of one has a number of its own. */
async function hasTransaction(query: (sql: string) => Promise<readonly Row[]>): Promise<boolean> {
  const number = async (): Promise<unknown> => (await query('select txid_current() as number'))[0]?.number
  try {
    return (await number()) === (await number())
  } catch (error) {
    // a conflict leaves the transaction open but useless until it is rolled back
    if (error instanceof Error && error.message.includes('Current transaction is aborted')) return true
    throw error
  }
}

function toDuckdb(driver: Duckdb, value: Value): DuckDBValue {
  if (value instanceof Date) return new driver.DuckDBTimestampTZValue(BigInt(value.getTime()) * 1000n)
  return value instanceof Uint8Array ? new driver.DuckDBBlobValue(value) : value
}

/** The driver takes every bigint for a HUGEINT; what it makes of other values is right. */
function typeOf(driver: Duckdb, value: Value): DuckDBType | undefined {
  return typeof value === 'bigint' && value === BigInt.asIntN(64, value) ? driver.BIGINT : undefined
}
