import { onDemand } from '../../core/on-demand.ts'
import { parseVersion } from '../../core/version.ts'
import { sql } from '../sql.ts'
import { transaction } from './transaction.ts'
import type { BuiltinDialect } from '../dialect.ts'
import { advisory } from './advisory.ts'
import { errors } from './errors.ts'
import { lease } from './lease.ts'
import { named } from './named.ts'
import { row } from './row.ts'
import { table } from './table.ts'

export const postgres: BuiltinDialect<'postgres'> = {
  name: 'postgres',
  title: 'PostgreSQL',
  versions: { oldest: '9.5', assumed: '18' },
  readVersion: parseVersion,
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
  transaction,
  lease,
  named,
  declared: async () => (await import('./declared.ts')).declared,
  enqueue: async () => (await import('./enqueue.ts')).enqueue,
  tools: async () => (await import('./tools.ts')).tools,
  identity: { ask: sql('SHOW server_version'), version: ({ server_version }) => String(server_version) },
}
