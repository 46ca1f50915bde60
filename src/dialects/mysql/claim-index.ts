import type { Row } from '../../core/statement.ts'
import type { QueueTable } from '../claim.ts'
import { explained, fullIndex } from '../claim-index.ts'
import type { ClaimIndex } from '../tools.ts'
import { syntax } from './claim.ts'

export const claimIndex: ClaimIndex = {
  index: (queue) => [fullIndex(syntax, queue)],
  scan: { ask: (queue) => explained('EXPLAIN FORMAT=TRADITIONAL', syntax, queue), problem: scanProblem },
}

function scanProblem(rows: readonly Row[], { where }: QueueTable): string | undefined {
  const [row] = rows
  if (/filesort/.test(String(row?.Extra))) return 'all rows that match are sorted'
  const isScan = row?.type === 'ALL' || row?.type === 'index'
  return isScan && (where.length > 0 || row?.key === null) ? 'every row of the table is read' : undefined
}
