import { onDemand } from '../../core/on-demand.ts'
import { parseVersion, type Version } from '../../core/version.ts'
import { sql } from '../sql.ts'
import { lockTimeout } from './timeout.ts'
import type { BuiltinDialect } from '../dialect.ts'
import { advisory } from './advisory.ts'
import { errors } from './errors.ts'
import { lease } from './lease.ts'
import { named } from './named.ts'
import { row } from './row.ts'
import { table } from './table.ts'

/** The product versions that servers report, by the year that people say. */
const majorOfYear: Readonly<Record<number, number>> = {
  2012: 11,
  2014: 12,
  2016: 13,
  2017: 14,
  2019: 15,
  2022: 16,
  2025: 17,
}

function readVersion(text: string): Version {
  const [major, minor, patch] = parseVersion(text)
  return [majorOfYear[major] ?? major, minor, patch]
}

export const mssql: BuiltinDialect<'mssql'> = {
  name: 'mssql',
  title: 'SQL Server',
  versions: { oldest: '2016', assumed: '2022' },
  readVersion,
  cells: {
    'row-exclusive': row,
    'row-shared': row,
    'skip-locked': row,
    nowait: row,
    'lock-timeout': row,
    advisory,
    table,
  },
  errors,
  claim: onDemand(async () => (await import('./claim.ts')).claim),
  optimistic: onDemand(async () => (await import('./optimistic.ts')).optimistic),
  once: onDemand(async () => (await import('./once.ts')).once),
  transaction: { lockTimeout: (ms) => ({ setting: lockTimeout(ms) }) },
  lease,
  named,
  declared: async () => (await import('./declared.ts')).declared,
  enqueue: async () => (await import('./enqueue.ts')).enqueue,
  tools: async () => (await import('./tools.ts')).tools,
  identity: {
    ask: sql("SELECT CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128)) AS version"),
    version: ({ version }) => String(version),
  },
}
