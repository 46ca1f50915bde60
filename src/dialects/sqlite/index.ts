import { onDemand } from '../../core/on-demand.ts'
import { unsupported } from '../../core/support.ts'
import { parseVersion } from '../../core/version.ts'
import { sql } from '../sql.ts'
import type { BuiltinDialect } from '../dialect.ts'
import { leaseAdvisory } from '../lease-advisory.ts'
import { errors } from './errors.ts'
import { lease } from './lease.ts'
import { named } from './named.ts'
import { row, wholeDatabase } from './row.ts'
import { nowMs } from './syntax.ts'
import { table } from './table.ts'

export const sqlite: BuiltinDialect<'sqlite', 'skip-locked'> = {
  name: 'sqlite',
  title: 'SQLite',
  // RETURNING, which tells whether a lease was free, came in 3.35.
  versions: { oldest: '3.35', assumed: '3.45' },
  readVersion: parseVersion,
  cells: {
    'row-exclusive': row,
    'row-shared': row,
    'skip-locked': unsupported(
      'SQLite locks the whole database, so there is never a locked row to skip',
      'claim rows with one UPDATE ... RETURNING',
    ),
    nowait: row,
    'lock-timeout': row,
    advisory: (request) => leaseAdvisory(request, { nowMs, support: wholeDatabase, begin: 'IMMEDIATE' }),
    table,
  },
  errors,
  claim: onDemand(async () => (await import('./claim.ts')).claim),
  optimistic: onDemand(async () => (await import('./optimistic.ts')).optimistic),
  once: onDemand(async () => (await import('./once.ts')).once),
  transaction: { writeMode: 'IMMEDIATE' },
  lease,
  named,
  declared: async () => (await import('./declared.ts')).declared,
  enqueue: async () => (await import('./enqueue.ts')).enqueue,
  tools: async () => (await import('./tools.ts')).tools,
  identity: { ask: sql('SELECT sqlite_version() AS version'), version: ({ version }) => String(version) },
}
