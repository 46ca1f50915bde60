import type { Finding } from '../../core/attestation.ts'
import { judgeSettings, settingsOf, type SettingRule } from '../finding-settings.ts'
import { leaseTableEnd } from '../lease-table-end.ts'
import { sql } from '../sql.ts'
import type { Examination } from '../tools.ts'
import { guardName } from './row.ts'

const database = sql(
  "SELECT coalesce(path, '') AS path, readonly FROM duckdb_databases() WHERE database_name = current_database()",
)

const rules: readonly SettingRule[] = [
  {
    setting: 'readonly',
    isAmiss: (value) => value === 'true',
    id: 'read-only',
    severity: 'error',
    title: 'this database was opened read-only',
    why: 'Locks are written rows, so none can be taken.',
    mend: 'Open it with access_mode READ_WRITE.',
  },
  {
    setting: 'path',
    isAmiss: (value) => value === '',
    id: 'in-memory',
    severity: 'note',
    title: 'the database is in memory',
    why: 'It belongs to one instance in this process, and its locks exclude nobody else.',
    mend: 'Use a file if the data must persist.',
  },
]

/** It is so always, and whoever comes from a database server has to know it. */
const singleProcess: Finding = {
  id: 'single-process',
  severity: 'note',
  title: 'only one process at a time can write to a DuckDB file',
  why: 'Locks work between the connections of this process; another process cannot open the file.',
  mend: 'Let one process do all the writing, and take its instance from DuckDBInstance.fromCache.',
}

export const examination: Examination = {
  questions: () => ({ database: { ask: database, unknown: 'whether the database is a file' } }),
  read: (replies) => [...judgeSettings(rules, settingsOf(replies.database?.[0])), singleProcess],
  leaseRow: {
    target: (name) => ({ table: '_leases', key: { name } }),
    remove: (name) => sql('DELETE FROM _leases WHERE name = ?', name),
    guards: [guardName('_leases')],
  },
  leaseTable: leaseTableEnd,
  indexes: (table) => sql(indexes, table, table),
}

/**
 * Keys are indexes too, though they are listed elsewhere. The columns of an index come as the text of a list, where a
 * name that is no plain word stands in quotes.
 */
const indexes = `
WITH owner AS (
  SELECT table_oid FROM duckdb_tables()
   WHERE database_name = current_database() AND schema_name = current_schema() AND lower(table_name) = lower(?)
), found AS (
  SELECT index_name, CAST(expressions AS VARCHAR[]) AS columns FROM duckdb_indexes()
   WHERE database_name = current_database() AND schema_name = current_schema() AND lower(table_name) = lower(?)
  UNION ALL
  SELECT constraint_type || ' ' || constraint_index, constraint_column_names FROM duckdb_constraints()
   WHERE table_oid IN (SELECT table_oid FROM owner) AND constraint_type IN ('PRIMARY KEY', 'UNIQUE')
     AND database_name = current_database()
), parts AS (
  SELECT index_name, unnest(columns) AS part, unnest(range(len(columns))) AS place FROM found
)
SELECT index_name, replace(trim(part, '"'), '""', '"') AS column_name
  FROM owner LEFT JOIN parts ON true ORDER BY index_name, place`
