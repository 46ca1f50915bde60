import type { CheckedRow } from '../../core/check-request.ts'
import { waitingBy, type PlanDraft } from '../../core/plan.ts'
import { stronger, type Supported } from '../../core/support.ts'
import { readTarget } from '../sql.ts'
import { syntax } from './syntax.ts'

export const wholeDatabase: Supported = stronger(
  'database',
  'SQLite has one writer: the transaction locks the whole database',
)

/**
 * The transaction itself is the lock, taken by BEGIN IMMEDIATE before anything is read.
 *
 * A BEGIN that finds the database busy is repeated. `busy_timeout` is never used: it sleeps on JavaScript's own
 * thread, and a holder in the same process could then never finish.
 */
export function row(request: CheckedRow): PlanDraft {
  const read = request.target && readTarget(syntax, request.target)
  return {
    support: wholeDatabase,
    mode: 'exclusive',
    waiting: waitingBy('statement', request.wait),
    begin: 'IMMEDIATE',
    query: { style: 'covered', ...(read && { read }) },
  }
}
