import type { SqliteDatabase } from '../better-sqlite3/sessions.ts'
import { viewOf } from '../transaction-view.ts'

interface Statement {
  safeIntegers(isOn: boolean): unknown
}

/** The handle for Prisma, which reads every integer as a `bigint`. */
export function exact(handle: SqliteDatabase): object {
  return viewOf(handle, (name, value) => {
    if (name !== 'prepare') return undefined
    const prepare = value as (sql: string) => Statement
    return (sql: string) => prepare(sql).safeIntegers(true)
  })
}
