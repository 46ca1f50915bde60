import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import SQLite from 'better-sqlite3'
import type { Row, Value } from 'holdfast'
import { createLocks } from 'holdfast/better-sqlite3'

import type { Database } from './database.ts'

export async function create(): Promise<Database<SQLite.Database>> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-example-'))
  const open = (): SQLite.Database => new SQLite(join(folder, 'story.sqlite'))
  return {
    isolation: 'serializable',
    connect: async () => {
      const own = open()
      own.pragma('journal_mode = WAL')
      return {
        // a function: each transaction has a handle of its own, and others go on meanwhile
        locks: createLocks(open),
        query: async (tx, sql, params) => query(tx, sql, params),
        queryAlone: async (sql) => query(own, sql, []),
        close: async () => void own.close(),
      }
    },
    drop: () => rm(folder, { recursive: true }),
  }
}

function query(handle: SQLite.Database, sql: string, params: readonly Value[]): readonly Row[] {
  const statement = handle.prepare<unknown[], Row>(sql)
  if (statement.reader) return statement.all(...params)
  statement.run(...params)
  return []
}
