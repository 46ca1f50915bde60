import type { CheckedRow } from '../../core/check-request.ts'
import { waitingBy, type PlanDraft } from '../../core/plan.ts'
import type { Strength } from '../../core/request.ts'
import { native, unsupported, type Unsupported } from '../../core/support.ts'
import { readTarget } from '../sql.ts'
import { syntax } from './syntax.ts'
import { lockTimeout } from './timeout.ts'

const words: Readonly<Record<Strength, string>> = {
  update: 'FOR UPDATE',
  'no-key-update': 'FOR NO KEY UPDATE',
  share: 'FOR SHARE',
  'key-share': 'FOR KEY SHARE',
}

export function row(request: CheckedRow): PlanDraft | Unsupported {
  if (request.protectAbsence) {
    return unsupported(
      'PostgreSQL locks only rows that exist',
      'take an advisory lock on the name of what may be missing, or use SERIALIZABLE with retry',
    )
  }
  const clause = [
    words[request.strength],
    request.of.length > 0 && `OF ${request.of.map(syntax.quote).join(', ')}`,
    request.wait === 'nowait' && 'NOWAIT',
    request.wait === 'skip' && 'SKIP LOCKED',
  ]
    .filter(Boolean)
    .join(' ')
  const read = request.target && readTarget(syntax, request.target, { clause })
  return {
    support: native('row'),
    waiting: waitingBy('server', request.wait),
    ...lockTimeout(request.wait, 'LOCAL'),
    query: { style: 'clause', clause, ...(read && { read }) },
  }
}
