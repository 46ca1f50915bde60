import { onDemand } from '../../core/on-demand.ts'
import { emulated, unsupported } from '../../core/support.ts'
import { parseVersion } from '../../core/version.ts'
import { sql } from '../sql.ts'
import type { BuiltinDialect } from '../dialect.ts'
import { leaseAdvisory } from '../lease-advisory.ts'
import { errors } from './errors.ts'
import { lease } from './lease.ts'
import { named } from './named.ts'
import { row } from './row.ts'
import { nowMs } from './syntax.ts'

export const duckdb: BuiltinDialect<'duckdb', 'skip-locked' | 'table'> = {
  name: 'duckdb',
  title: 'DuckDB',
  versions: { oldest: '1.0', assumed: '1.5' },
  readVersion: parseVersion,
  cells: {
    'row-exclusive': row,
    'row-shared': row,
    'skip-locked': unsupported(
      'DuckDB has no row locks to skip: the second writer of a row is aborted',
      'claim rows with one UPDATE ... RETURNING, and repeat it after a conflict',
    ),
    nowait: row,
    'lock-timeout': row,
    advisory: (request) =>
      leaseAdvisory(request, {
        nowMs,
        support: emulated(
          'name',
          'a guard row: the second transaction to take the lock is aborted and repeated',
        ),
      }),
    table: unsupported(
      'DuckDB lets every transaction write any table and finds conflicts later',
      "take an advisory lock on the table's name in every transaction that must not run at the same time",
    ),
  },
  errors,
  claim: onDemand(async () => (await import('./claim.ts')).claim),
  optimistic: onDemand(async () => (await import('./optimistic.ts')).optimistic),
  once: onDemand(async () => (await import('./once.ts')).once),
  transaction: {},
  lease,
  named,
  declared: async () => (await import('./declared.ts')).declared,
  enqueue: async () => (await import('./enqueue.ts')).enqueue,
  tools: async () => (await import('./tools.ts')).tools,
  identity: { ask: sql('SELECT version() AS version'), version: ({ version }) => String(version) },
}
