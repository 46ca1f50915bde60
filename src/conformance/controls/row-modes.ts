import type { PlanDraft, QueryLock } from '../../core/plan.ts'
import { isSql } from '../../core/statement.ts'
import type { Sabotage } from '../subject.ts'
import { withRowPlans, withTablePlans } from './row-plans.ts'

/** Drops FOR UPDATE, the hints, the write or the BEGIN that is the lock. */
export const readsWithoutLock: Sabotage = {
  does: 'reads rows without locking them',
  dialect: (dialect) => {
    const { writeMode: _, ...transaction } = dialect.transaction
    return { ...withRowPlans(dialect, { plan: bare }), transaction }
  },
}

export const locksInPlaceOfSharing: Sabotage = {
  does: 'takes exclusive locks where shared ones were asked for',
  dialect: (dialect) =>
    withTablePlans(
      withRowPlans(dialect, { ask: (request) => ({ ...request, mode: 'exclusive', strength: 'update' }) }),
      { ask: (request) => ({ ...request, mode: 'exclusive' }) },
    ),
}

export const sharesInPlaceOfLocking: Sabotage = {
  does: 'takes shared locks where exclusive ones were asked for',
  dialect: (dialect) =>
    withTablePlans(
      withRowPlans(dialect, { ask: (request) => ({ ...request, mode: 'shared', strength: 'share' }) }),
      { ask: (request) => ({ ...request, mode: 'shared', blockReaders: false }) },
    ),
}

export const leavesTablesUnlocked: Sabotage = {
  does: 'takes no lock on tables',
  dialect: (dialect) => withTablePlans(dialect, { plan: unlockedTable }),
}

export const letsReadersThrough: Sabotage = {
  does: 'keeps only writers out of a table when it should keep readers out as well',
  dialect: (dialect) => withTablePlans(dialect, { ask: (request) => ({ ...request, blockReaders: false }) }),
}

function unlockedTable({ support, waiting, mode }: PlanDraft): PlanDraft {
  return { support, waiting, ...(mode && { mode }) }
}

function bare({ begin: _, inTransaction: __, query, ...draft }: PlanDraft): PlanDraft {
  return query === undefined ? draft : { ...draft, query: plainRead(query) }
}

function plainRead(query: QueryLock): QueryLock {
  const { read } = query
  if (read === undefined || !isSql(read)) return { ...query, style: 'covered' } as QueryLock
  const lock =
    query.style === 'clause'
      ? ` ${query.clause}`
      : query.style === 'table-hint'
        ? ` WITH (${query.hints.join(', ')})`
        : ''
  return { style: 'covered', read: { ...read, sql: read.sql.replace(lock, '') } }
}
