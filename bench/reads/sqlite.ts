import { readFileSync } from 'node:fs'

import Database from 'better-sqlite3'

import { isSql } from '../../src/core/statement.ts'
import { mustBe, planOf, type ReadClaim } from './claim-reads.ts'

/**
 * Pages of the file that a claim reads on a connection that has read nothing yet. SQLite itself counts no rows; what
 * the process has read from files is counted by Linux.
 */
export const readSqliteClaim: ReadClaim = async (stage, limit) => {
  const [step] = (await planOf(stage, limit)).steps
  if (step === undefined || typeof step === 'function' || !isSql(step)) throw new Error('not one statement')
  const database = new Database(stage.engine.server.url)
  try {
    const pageSize = Number(database.pragma('page_size', { simple: true }))
    const params = step.params.map((value) => (typeof value === 'number' ? BigInt(value) : value))
    database.exec('BEGIN IMMEDIATE')
    const before = bytesRead()
    const jobs = database.prepare(step.sql).all(...params)
    const bytes = bytesRead() - before
    mustBe(limit, jobs.length)
    database.exec('ROLLBACK')
    const plan = database
      .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${step.sql}`)
      .all(...params)
    const lines = plan.map(({ detail }) => detail).filter((line) => !line.startsWith('LIST'))
    return { count: Math.round(bytes / pageSize), unit: 'pages', plan: lines.join(', ') }
  } finally {
    database.close()
  }
}

/** Read at once, so that nothing else in this process reads meanwhile. */
function bytesRead(): number {
  const [, bytes] = /^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8')) ?? []
  return Number(bytes)
}
