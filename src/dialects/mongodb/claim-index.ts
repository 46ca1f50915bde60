import type { DocumentCommand, Row } from '../../core/statement.ts'
import type { QueueTable } from '../claim.ts'
import { fixedColumns, indexName } from '../claim-index.ts'
import type { ClaimIndex } from '../tools.ts'
import { claimable, matches, sortOf, type Document } from './claim.ts'
import { collection, fieldName } from './names.ts'

export const claimIndex: ClaimIndex = {
  index: (queue) => [indexCommand(queue)],
  scan: {
    ask: (queue) => ({
      command: {
        explain: {
          find: collection(queue.table),
          filter: claimable(queue),
          sort: sortOf(queue),
          limit: 1,
        },
        verbosity: 'queryPlanner',
      },
    }),
    problem: scanProblem,
  },
}

/** Only of the documents of the queue, where the server can tell that the index has all that are asked for. */
function indexCommand(queue: QueueTable): DocumentCommand {
  const isFixed =
    queue.where.length > 0 && queue.where.every(({ values }) => values.length === 1 && values[0] !== null)
  const fixed: Document = Object.fromEntries(fixedColumns(queue).map((column) => [column, 1]))
  const index = {
    key: { ...(isFixed ? {} : fixed), ...sortOf(queue) },
    name: indexName(queue.table),
    ...(isFixed && { partialFilterExpression: matches(queue) }),
  }
  // the end of a job finds it by its id, for which the server has an index of its own only when that is `_id`
  const id = { key: { [fieldName(queue.id)]: 1 }, name: `${indexName(queue.table)}_id` }
  const indexes = queue.id === '_id' ? [index] : [index, id]
  return { command: { createIndexes: collection(queue.table), indexes } }
}

interface PlanStage {
  readonly stage?: string
  readonly isPartial?: boolean
  readonly keyPattern?: Document
}

function scanProblem([reply]: readonly Row[], { where }: QueueTable): string | undefined {
  const { queryPlanner } = (reply ?? {}) as { queryPlanner?: { winningPlan?: object } }
  const stages = stagesIn(queryPlanner?.winningPlan)
  if (stages.some(({ stage }) => stage === 'COLLSCAN')) return 'every document of the collection is read'
  if (stages.some(({ stage }) => stage === 'SORT')) return 'all documents that match are sorted'
  const serves = ({ isPartial, keyPattern = {} }: PlanStage): boolean =>
    isPartial === true || where.length === 0 || where.some(({ column }) => column in keyPattern)
  const isVain = stages.some((stage) => stage.stage === 'IXSCAN' && !serves(stage))
  return isVain ? 'documents are read that do not match' : undefined
}

function stagesIn(plan: unknown): readonly PlanStage[] {
  if (typeof plan !== 'object' || plan === null) return []
  return [plan, ...Object.values(plan).flatMap(stagesIn)]
}
