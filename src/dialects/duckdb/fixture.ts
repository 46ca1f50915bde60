import { sqlFixture } from '../fixture-sql.ts'
import { sql } from '../sql.ts'
import type { Fixture } from '../tools.ts'
import { syntax } from './syntax.ts'

export const fixture: Fixture = sqlFixture(syntax, {
  settings: sql(
    "SELECT name, value FROM duckdb_settings() WHERE name IN ('access_mode', 'search_path') ORDER BY name",
  ),
})
