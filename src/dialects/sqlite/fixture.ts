import { sqlFixture } from '../fixture-sql.ts'
import { sql } from '../sql.ts'
import type { Fixture } from '../tools.ts'
import { syntax } from './syntax.ts'

export const fixture: Fixture = sqlFixture(syntax, {
  settings: sql(
    "SELECT 'busy_timeout' AS name, timeout AS value FROM pragma_busy_timeout " +
      "UNION ALL SELECT 'query_only', query_only FROM pragma_query_only " +
      "UNION ALL SELECT 'read_uncommitted', read_uncommitted FROM pragma_read_uncommitted " +
      "UNION ALL SELECT 'locking_mode', locking_mode FROM pragma_locking_mode",
  ),
})
