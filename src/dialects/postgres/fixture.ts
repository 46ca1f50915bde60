import { sqlFixture } from '../fixture-sql.ts'
import { sql } from '../sql.ts'
import type { Fixture } from '../tools.ts'
import { syntax } from './syntax.ts'

/** What Holdfast, or an application beside it, could leave behind on a connection. */
const settings = [
  'lock_timeout',
  'statement_timeout',
  'idle_in_transaction_session_timeout',
  'transaction_isolation',
  'default_transaction_isolation',
  'transaction_read_only',
  'default_transaction_read_only',
  'search_path',
]

export const fixture: Fixture = sqlFixture(syntax, {
  settings: sql(
    `SELECT name, setting AS value FROM pg_settings WHERE name IN (${settings.map((name) => `'${name}'`).join(', ')}) ORDER BY name`,
  ),
})
