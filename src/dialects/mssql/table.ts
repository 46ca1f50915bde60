import type { CheckedTable } from '../../core/check-request.ts'
import { waitingBy, type PlanDraft } from '../../core/plan.ts'
import { native, unsupported, type Unsupported } from '../../core/support.ts'
import { quoteTable, sql } from '../sql.ts'
import { syntax } from './syntax.ts'
import { lockTimeout } from './timeout.ts'

/** HOLDLOCK keeps the table lock to the end of the transaction. The NOWAIT hint does not work beside TABLOCK. */
export function table(request: CheckedTable): PlanDraft | Unsupported {
  if (request.blockReaders) {
    return unsupported(
      'with READ_COMMITTED_SNAPSHOT on, readers take no locks that could be blocked',
      'leave blockReaders out, or take an advisory lock in readers too',
    )
  }
  const hint = request.mode === 'shared' ? 'TABLOCK' : 'TABLOCKX'
  const timeoutMs =
    request.wait === 'nowait' ? 0 : request.wait === 'block' ? undefined : request.wait.timeoutMs
  return {
    support: native('table'),
    waiting: waitingBy('server', request.wait),
    ...(timeoutMs !== undefined && { setting: lockTimeout(timeoutMs) }),
    inTransaction: [
      sql(`SELECT TOP (1) 1 AS locked FROM ${quoteTable(syntax, request.table)} WITH (${hint}, HOLDLOCK)`),
    ],
  }
}
