import type { CheckedTable } from '../../core/check-request.ts'
import { waitingBy, type PlanDraft } from '../../core/plan.ts'
import { unsupported, type Unsupported } from '../../core/support.ts'
import { wholeDatabase } from './row.ts'

/** Readers of a database in WAL mode never wait, so only writers can be kept out. */
export function table(request: CheckedTable): PlanDraft | Unsupported {
  if (request.blockReaders) {
    return unsupported(
      'in WAL mode nothing keeps readers out',
      'leave blockReaders out, or take an advisory lock in readers too',
    )
  }
  return {
    support: wholeDatabase,
    mode: 'exclusive',
    waiting: waitingBy('statement', request.wait),
    begin: request.mode === 'shared' ? 'IMMEDIATE' : 'EXCLUSIVE',
  }
}
