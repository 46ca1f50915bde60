import type { Row, Statement } from '../../src/core/statement.ts'
import { classifyError } from '../../src/classify.ts'
import type { EngineContext } from '../engines/use.ts'
import type { EngineSession } from '../engines/engine.ts'

/** Every row that a spec may find locked, as `table id`. */
const rows = [...[1, 2, 3, 4].map((id) => `account ${id}`), ...[10, 20, 30].map((id) => `owner ${id}`)]

const statement = (sql: string): Statement => ({ sql, params: [] })

/** Four accounts of three owners, and an index that holds all that some queries read. */
export async function createBank({ engine }: EngineContext): Promise<void> {
  const session = await engine.open()
  for (const sql of [
    'CREATE TABLE owner (id INTEGER PRIMARY KEY, name VARCHAR(20) NOT NULL)',
    'CREATE TABLE account (id INTEGER PRIMARY KEY, owner_id INTEGER, balance INTEGER NOT NULL)',
    'CREATE INDEX account_owner ON account (owner_id)',
    'CREATE TABLE log (account_id INTEGER NOT NULL)',
    "INSERT INTO owner VALUES (10, 'Ada'), (20, 'Bo'), (30, 'Cy')",
    'INSERT INTO account VALUES (1, 10, 100), (2, 20, 100), (3, 30, 100), (4, 30, 100)',
  ]) {
    await session.run(statement(sql))
  }
  await session.close()
}

/** The rows that a session cannot lock at once, because somebody holds them. */
export async function lockedRows(observer: EngineSession, clause = 'FOR UPDATE'): Promise<readonly string[]> {
  const locked: string[] = []
  for (const row of rows) {
    const [table, id] = row.split(' ')
    const probe = observer.run(statement(`SELECT id FROM ${table} WHERE id = ${id} ${clause} NOWAIT`))
    if (await isRefused(probe)) locked.push(row)
  }
  return locked
}

async function isRefused(probe: Promise<readonly Row[]>): Promise<boolean> {
  try {
    await probe
    return false
  } catch (error) {
    if (['lock-not-available', 'lock-timeout'].includes(classifyError(error).kind)) return true
    throw error
  }
}
