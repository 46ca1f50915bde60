import { onDemand } from '../../core/on-demand.ts'
import { unsupported } from '../../core/support.ts'
import { parseVersion } from '../../core/version.ts'
import type { BuiltinDialect } from '../dialect.ts'
import { advisory } from './advisory.ts'
import { errors } from './errors.ts'
import { lease } from './lease.ts'
import { named } from './named.ts'
import { row } from './row.ts'

export const mongodb: BuiltinDialect<'mongodb', 'skip-locked' | 'table'> = {
  name: 'mongodb',
  title: 'MongoDB',
  // Transactions on every deployment with a replica set, and $$NOW in updates.
  versions: { oldest: '4.4', assumed: '7.0' },
  readVersion: parseVersion,
  cells: {
    'row-exclusive': row,
    'row-shared': row,
    'skip-locked': unsupported(
      'a query cannot tell which documents other transactions have written',
      'claim documents with findOneAndUpdate',
    ),
    nowait: row,
    'lock-timeout': row,
    advisory,
    table: unsupported(
      'MongoDB has no lock on a collection that a client could take',
      "take an advisory lock on the collection's name in every transaction that must not run at the same time",
    ),
  },
  errors,
  claim: onDemand(async () => (await import('./claim.ts')).claim),
  optimistic: onDemand(async () => (await import('./optimistic.ts')).optimistic),
  once: onDemand(async () => (await import('./once.ts')).once),
  transaction: { canRepeatCommit: true },
  lease,
  named,
  enqueue: async () => (await import('./enqueue.ts')).enqueue,
  tools: async () => (await import('./tools.ts')).tools,
  identity: { ask: { command: { buildInfo: 1 } }, version: ({ version }) => String(version) },
}
