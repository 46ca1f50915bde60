import type { Sessions } from '../../core/session.ts'
import { sessions as sqliteSessions } from '../better-sqlite3/sessions.ts'
import { mustHave } from '../must-have.ts'
import { handleOf, type NodeSqliteDatabase } from './handle.ts'

export type { NodeSqliteDatabase, NodeSqliteStatement } from './handle.ts'

/**
 * Sessions on an SQLite database through `node:sqlite`. The caller's work receives a view of the handle that is its
 * transaction's alone. A function opens a handle for each session; a handle is shared by one session after another.
 */
export function sessions<Database extends NodeSqliteDatabase>(
  source: Database | (() => Database),
): Sessions<Database> {
  if (typeof source === 'function') {
    const own = sqliteSessions(() => handleOf(source()))
    return own as unknown as Sessions<Database>
  }
  mustHave(source, {
    field: 'source',
    methods: ['prepare', 'exec'],
    pass: 'a function that opens the database, as in createLocks(() => new DatabaseSync(file)), or one handle',
  })
  return sqliteSessions(handleOf(source)) as unknown as Sessions<Database>
}
