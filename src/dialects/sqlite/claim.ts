import type { Row } from '../../core/statement.ts'
import type { ClaimStatements, QueueTable } from '../claim.ts'
import { embeddedClaims } from '../claim-embedded.ts'
import { fixedColumns, partialIndex } from '../claim-index.ts'
import { claimText, type ClaimSyntax } from '../claim-text.ts'
import { sql } from '../sql.ts'
import { nowMs, syntax as names } from './syntax.ts'

const syntax: ClaimSyntax = { ...names, nowMs }

export const claim: ClaimStatements = {
  ...embeddedClaims(syntax),
  // with the fixed columns in it: then the plan says that the index is searched, and does not only pass through it
  index: (queue) => [partialIndex(names, queue, fixedColumns(queue))],
  scan: {
    // EXPLAIN reads nothing, and so does not notice that another connection has made an index
    head: [sql('SELECT COUNT(*) AS n FROM sqlite_master')],
    ask: (queue) => {
      const text = claimText(syntax, queue)
      return text.statement(
        `EXPLAIN QUERY PLAN SELECT ${text.key} FROM ${text.from} WHERE ${text.claimable()} ` +
          `ORDER BY ${text.order()} LIMIT 1`,
      )
    },
    problem: scanProblem,
  },
  // the one code for every text that cannot be prepared, and ours are right for a table that fits
  misfits: ['SQLITE_ERROR'],
}

function scanProblem(rows: readonly Row[], { where }: QueueTable): string | undefined {
  const lines = rows.map(({ detail }) => String(detail))
  if (lines.some((line) => line.includes('TEMP B-TREE'))) return 'all rows that match are sorted'
  const scans = lines.filter((line) =>
    /^SCAN j(?! USING (?:COVERING )?INDEX (?!sqlite_autoindex))/.test(line),
  )
  return scans.length > 0 && where.length > 0 ? 'every row of the table is read' : undefined
}
