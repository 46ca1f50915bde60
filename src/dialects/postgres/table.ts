import type { CheckedTable } from '../../core/check-request.ts'
import { waitingBy, type PlanDraft } from '../../core/plan.ts'
import { native } from '../../core/support.ts'
import { quoteTable, sql } from '../sql.ts'
import { syntax } from './syntax.ts'
import { lockTimeout } from './timeout.ts'

/** EXCLUSIVE keeps writers and row lockers out and lets plain reads through; ACCESS EXCLUSIVE stops those too. */
export function table(request: CheckedTable): PlanDraft {
  const mode = request.mode === 'shared' ? 'SHARE' : request.blockReaders ? 'ACCESS EXCLUSIVE' : 'EXCLUSIVE'
  const nowait = request.wait === 'nowait' ? ' NOWAIT' : ''
  return {
    support: native('table'),
    waiting: waitingBy('server', request.wait),
    ...lockTimeout(request.wait, 'LOCAL'),
    inTransaction: [sql(`LOCK TABLE ${quoteTable(syntax, request.table)} IN ${mode} MODE${nowait}`)],
  }
}
