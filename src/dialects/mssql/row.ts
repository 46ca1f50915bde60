import type { CheckedRow } from '../../core/check-request.ts'
import { waitingBy, type PlanDraft } from '../../core/plan.ts'
import { native, stronger, unsupported, type Supported, type Unsupported } from '../../core/support.ts'
import { readTarget } from '../sql.ts'
import { syntax } from './syntax.ts'
import { lockTimeout } from './timeout.ts'

/**
 * Table hints.
 *
 * UPDLOCK is held to the end of the transaction by itself and excludes every other UPDLOCK and every writer; plain
 * readers pass. HOLDLOCK adds locks on key ranges, and with them deadlocks, so it is there only to protect absence.
 *
 * @see https://learn.microsoft.com/sql/t-sql/queries/hints-transact-sql-table
 */
export function row(request: CheckedRow): PlanDraft | Unsupported {
  if (request.wait === 'skip') return skipLocked(request)
  const hints = [
    request.mode === 'exclusive' && 'UPDLOCK',
    request.protectAbsence ? 'HOLDLOCK' : request.mode === 'shared' && 'REPEATABLEREAD',
    'ROWLOCK',
    request.wait === 'nowait' && 'NOWAIT',
  ].filter((hint) => hint !== false)
  return {
    ...hinted(request, hints),
    support: rowSupport(request),
    ...(typeof request.wait === 'object' && { setting: lockTimeout(request.wait.timeoutMs) }),
  }
}

/**
 * READPAST needs locking reads: with READ_COMMITTED_SNAPSHOT on, only READCOMMITTEDLOCK makes sure of them. The
 * engine refuses READPAST with HOLDLOCK, and from SERIALIZABLE and SNAPSHOT transactions.
 */
function skipLocked(request: CheckedRow): PlanDraft | Unsupported {
  if (request.protectAbsence) {
    return unsupported('READPAST cannot be combined with HOLDLOCK', 'skip without protectAbsence')
  }
  if (request.isolation !== undefined && request.isolation !== 'read committed') {
    return unsupported(
      `READPAST is refused or unsafe at ${request.isolation}`,
      'claim in a READ COMMITTED transaction',
    )
  }
  const isShared = request.mode === 'shared'
  return {
    ...hinted(request, ['UPDLOCK', 'READPAST', 'ROWLOCK', 'READCOMMITTEDLOCK']),
    mode: 'exclusive',
    support: isShared
      ? stronger('row', 'skipping is done with update locks, which are not shared')
      : native('row'),
  }
}

function hinted(request: CheckedRow, hints: readonly string[]): Pick<PlanDraft, 'waiting' | 'query'> {
  const read = request.target && readTarget(syntax, request.target, { hints })
  return {
    waiting: waitingBy('server', request.wait),
    query: { style: 'table-hint', hints, ...(read && { read }) },
  }
}

function rowSupport({ strength, protectAbsence }: CheckedRow): Supported {
  if (protectAbsence) return native('key-range')
  if (strength === 'update' || strength === 'share') return native('row')
  return stronger('row', `SQL Server has no ${strength}: the whole row is locked`)
}
