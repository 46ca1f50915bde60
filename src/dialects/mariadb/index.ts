import { onDemand } from '../../core/on-demand.ts'
import type { CheckedRow } from '../../core/check-request.ts'
import type { PlanDraft } from '../../core/plan.ts'
import type { Unsupported } from '../../core/support.ts'
import { isAtLeast, parseVersion, type Version } from '../../core/version.ts'
import { identity, transaction } from '../mysql/transaction.ts'
import type { BuiltinDialect } from '../dialect.ts'
import { lease } from '../mysql/lease.ts'
import { named } from '../mysql/named.ts'
import { peers } from '../mysql/peers.ts'
import { innodbRow } from '../mysql/row.ts'
import { table } from '../mysql/table.ts'
import { userLock } from '../mysql/user-lock.ts'
import { errors } from './errors.ts'

/** NOWAIT and WAIT n came in 10.3, SKIP LOCKED in 10.6. A NOWAIT that fails gives 1205, the code of a timeout. */
function row(request: CheckedRow, version: Version): PlanDraft | Unsupported {
  return innodbRow(request, {
    shareClause: 'LOCK IN SHARE MODE',
    hasOf: false,
    hasNowait: true,
    hasSkipLocked: isAtLeast(version, [10, 6, 0]),
    hasWaitClause: true,
    deletesLockedSubqueries: false,
  })
}

export const mariadb: BuiltinDialect<'mariadb'> = {
  name: 'mariadb',
  title: 'MariaDB',
  versions: { oldest: '10.3', assumed: '10.6' },
  // The handshake of servers before 11 starts with 5.5.5-, for clients that take a 10 for an unknown MySQL.
  readVersion: (text) => parseVersion(text.replace(/^5\.5\.5-/, '')),
  cells: {
    'row-exclusive': row,
    'row-shared': row,
    'skip-locked': row,
    nowait: row,
    'lock-timeout': row,
    advisory: (request) => userLock(request, { hasFractionalSeconds: true, maxNameLength: 192 }),
    table: (request) => table(request, true),
  },
  errors,
  claim: onDemand(async () => (await import('./claim.ts')).claim),
  optimistic: onDemand(async () => (await import('../mysql/optimistic.ts')).optimistic),
  once: onDemand(async () => (await import('../mysql/once.ts')).once),
  transaction,
  lease,
  named,
  peers,
  declared: async () => (await import('../mysql/declared.ts')).declared,
  enqueue: async () => (await import('../mysql/enqueue.ts')).enqueue,
  tools: async () => (await import('./tools.ts')).tools,
  identity: identity('MariaDB'),
}
