import Database from 'better-sqlite3'

import { before, tapState, type Tap } from './tap.ts'

/** A statement of SQLite is heard when it runs, and not when it is prepared. */
export function openTap(): Tap {
  const { hear, note, tap } = tapState<Database.Database>(async (one) => one.close())
  const prototype = Database.prototype
  before(prototype, 'exec', (database, [sql]) => {
    note(database)
    hear(String(sql))
  })
  for (const method of ['prepare', 'pragma'] as const) before(prototype, method, note)
  const memory = new Database(':memory:')
  const statement = Object.getPrototypeOf(memory.prepare('SELECT 1')) as Database.Statement
  memory.close()
  for (const method of ['run', 'get', 'all', 'iterate'] as const) {
    before(statement, method, ({ source }: Database.Statement) => hear(source))
  }
  return tap
}
