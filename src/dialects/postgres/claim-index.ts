import type { Row } from '../../core/statement.ts'
import type { QueueTable } from '../claim.ts'
import { explained, partialIndex } from '../claim-index.ts'
import { sql } from '../sql.ts'
import type { ClaimIndex } from '../tools.ts'
import { syntax } from './claim.ts'

export const claimIndex: ClaimIndex = {
  index: (queue) => [partialIndex(syntax, queue)],
  scan: {
    // a small table is read as a whole whatever indexes it has: without that choice the answer is about the index
    head: [sql('SET LOCAL enable_seqscan = off'), sql('SET LOCAL enable_sort = off')],
    ask: (queue) => explained('EXPLAIN (FORMAT JSON)', syntax, queue),
    problem: scanProblem,
  },
}

interface PlanNode {
  readonly 'Node Type'?: string
  readonly Filter?: string
  readonly Plans?: readonly PlanNode[]
}

/** A condition that an index on some rows implies is not in the filter; one that is there was tried row by row. */
function scanProblem([row]: readonly Row[], queue: QueueTable): string | undefined {
  const nodes = (node: PlanNode): readonly PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodes)]
  const answer = row?.['QUERY PLAN']
  const plans = (typeof answer === 'string' ? JSON.parse(answer) : answer) as readonly { Plan: PlanNode }[]
  const all = plans.flatMap(({ Plan }) => nodes(Plan))
  if (all.some((node) => node['Node Type'] === 'Seq Scan')) return 'every row of the table is read'
  if (all.some((node) => node['Node Type']?.endsWith('Sort') === true))
    return 'all rows that match are sorted'
  const words = new Set(all.flatMap(({ Filter = '' }) => wordsOf(Filter)))
  const vain = queue.where.find(({ column }) => words.has(column) || words.has(syntax.quote(column)))
  return vain && `rows are read whose ${vain.column} does not match`
}

/** The names in an expression, without the texts in it. */
function wordsOf(expression: string): readonly string[] {
  return expression.replaceAll(/'(?:[^']|'')*'/g, '').match(/"(?:[^"]|"")*"|[\w$]+/g) ?? []
}
