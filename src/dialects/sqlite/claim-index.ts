import type { Row } from '../../core/statement.ts'
import type { QueueTable } from '../claim.ts'
import { explained, fixedColumns, partialIndex } from '../claim-index.ts'
import { sql } from '../sql.ts'
import type { ClaimIndex } from '../tools.ts'
import { syntax } from './claim.ts'

export const claimIndex: ClaimIndex = {
  // with the fixed columns in it: then the plan says that the index is searched, and does not only pass through it
  index: (queue) => [partialIndex(syntax, queue, fixedColumns(queue))],
  scan: {
    // EXPLAIN reads nothing, and so does not notice that another connection has made an index
    head: [sql('SELECT COUNT(*) AS n FROM sqlite_master')],
    ask: (queue) => explained('EXPLAIN QUERY PLAN', syntax, queue),
    problem: scanProblem,
  },
}

function scanProblem(rows: readonly Row[], { where }: QueueTable): string | undefined {
  const lines = rows.map(({ detail }) => String(detail))
  if (lines.some((line) => line.includes('TEMP B-TREE'))) return 'all rows that match are sorted'
  const scans = lines.filter((line) =>
    /^SCAN j(?! USING (?:COVERING )?INDEX (?!sqlite_autoindex))/.test(line),
  )
  return scans.length > 0 && where.length > 0 ? 'every row of the table is read' : undefined
}
