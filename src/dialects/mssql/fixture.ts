import { sqlFixture } from '../fixture-sql.ts'
import { sql } from '../sql.ts'
import type { Fixture } from '../tools.ts'
import { syntax } from './syntax.ts'

export const fixture: Fixture = sqlFixture(syntax, {
  settings: sql(
    "SELECT 'lock_timeout' AS name, CONVERT(VARCHAR(20), @@LOCK_TIMEOUT) AS value " +
      "UNION ALL SELECT 'options', CONVERT(VARCHAR(20), @@OPTIONS) " +
      "UNION ALL SELECT 'isolation', CONVERT(VARCHAR(20), transaction_isolation_level) " +
      'FROM sys.dm_exec_sessions WHERE session_id = @@SPID',
  ),
})
