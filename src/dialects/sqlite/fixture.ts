import { sqlFixture } from '../fixture-sql.ts'
import { sql } from '../sql.ts'
import type { Fixture } from '../tools.ts'
import { syntax } from './syntax.ts'

/** All as text: a library may take a column to have the type that its first row has. */
export const fixture: Fixture = sqlFixture(syntax, {
  settings: sql(
    "SELECT 'busy_timeout' AS name, CAST(timeout AS TEXT) AS value FROM pragma_busy_timeout " +
      "UNION ALL SELECT 'query_only', CAST(query_only AS TEXT) FROM pragma_query_only " +
      "UNION ALL SELECT 'read_uncommitted', CAST(read_uncommitted AS TEXT) FROM pragma_read_uncommitted " +
      "UNION ALL SELECT 'locking_mode', locking_mode FROM pragma_locking_mode",
  ),
})
