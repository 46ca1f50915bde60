import { onDemand } from '../../core/on-demand.ts'
import type { CheckedRow } from '../../core/check-request.ts'
import type { PlanDraft } from '../../core/plan.ts'
import type { Unsupported } from '../../core/support.ts'
import { isAtLeast, parseVersion, type Version } from '../../core/version.ts'
import { identity, transaction } from './transaction.ts'
import type { BuiltinDialect } from '../dialect.ts'
import { errors } from './errors.ts'
import { lease } from './lease.ts'
import { named } from './named.ts'
import { peers } from './peers.ts'
import { innodbRow } from './row.ts'
import { table } from './table.ts'
import { userLock } from './user-lock.ts'

/** FOR SHARE, OF, NOWAIT and SKIP LOCKED came together in 8.0.1. */
function row(request: CheckedRow, version: Version): PlanDraft | Unsupported {
  const isModern = isAtLeast(version, [8, 0, 1])
  return innodbRow(request, {
    shareClause: isModern ? 'FOR SHARE' : 'LOCK IN SHARE MODE',
    hasOf: isModern,
    hasNowait: isModern,
    hasSkipLocked: isModern,
    hasWaitClause: false,
    deletesLockedSubqueries: true,
  })
}

export const mysql: BuiltinDialect<'mysql'> = {
  name: 'mysql',
  title: 'MySQL',
  // Before, a second GET_LOCK released the first. (It came with 5.7.5; the first release for everybody was 5.7.9.)
  versions: { oldest: '5.7', assumed: '8.4' },
  readVersion: parseVersion,
  cells: {
    'row-exclusive': row,
    'row-shared': row,
    'skip-locked': row,
    nowait: row,
    'lock-timeout': row,
    advisory: (request) => userLock(request, { hasFractionalSeconds: false, maxNameLength: 64 }),
    table: (request) => table(request, false),
  },
  errors,
  claim: onDemand(async () => (await import('./claim.ts')).claim),
  optimistic: onDemand(async () => (await import('./optimistic.ts')).optimistic),
  once: onDemand(async () => (await import('./once.ts')).once),
  transaction,
  lease,
  named,
  peers,
  declared: async () => (await import('./declared.ts')).declared,
  enqueue: async () => (await import('./enqueue.ts')).enqueue,
  tools: async () => (await import('./tools.ts')).tools,
  identity: identity('MySQL'),
}
