import type { Sessions } from '../../core/session.ts'
import { handleIn, mustOpen, sessions as sqliteSessions } from '../better-sqlite3/sessions.ts'
import { mustHave } from '../must-have.ts'
import { handleOf, type NodeSqliteDatabase } from './handle.ts'

export type { NodeSqliteDatabase, NodeSqliteStatement } from './handle.ts'

const wanted = {
  field: 'source',
  from: 'DatabaseSync', // which none of the libraries with a handle is
  methods: ['prepare', 'exec'],
  pass: 'a function that opens the database, as in createLocks(() => new DatabaseSync(file)), or one handle',
}

/**
 * Sessions on an SQLite database through `node:sqlite`. The caller's work receives a view of the handle that is its
 * transaction's alone. A function opens a handle for each session; a handle is shared by one session after another.
 */
export function sessions<Database extends NodeSqliteDatabase>(
  source: Database | (() => Database),
): Sessions<Database> {
  if (typeof source === 'function') {
    mustOpen(source, wanted)
    const own = sqliteSessions(() => handleOf(handleIn(source())))
    return own as unknown as Sessions<Database>
  }
  mustHave(source, wanted)
  return sqliteSessions(handleOf(source)) as unknown as Sessions<Database>
}
