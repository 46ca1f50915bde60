import type { DocumentCommand } from '../../core/statement.ts'
import type { QueueTable } from '../claim.ts'
import { ageIn, claimsIn, type QueueLook } from '../queue-look.ts'
import { claimable, matches, type Document } from './claim.ts'
import { collection, fieldName } from './names.ts'

export const queueLook: QueueLook = {
  oldest: (queue, { column, isMs }) => {
    const now = isMs ? { $toLong: '$$NOW' } : '$$NOW'
    const first = { $group: { _id: null, first: { $min: `$${fieldName(column)}` } } }
    const age = { $project: { age_ms: { $subtract: [now, '$first'] } } }
    return { statement: asked(queue, claimable(queue), [first, age]), read: ageIn }
  },
  claims: (queue) => {
    const token = fieldName(queue.token)
    const isHeld = {
      ...matches(queue),
      [token]: { $ne: null },
      $expr: { $gt: [`$${fieldName(queue.until)}`, { $toLong: '$$NOW' }] },
    }
    const counted = [{ $group: { _id: `$${token}`, n: { $sum: 1 } } }, { $project: { token: '$_id', n: 1 } }]
    return { statement: asked(queue, isHeld, counted), read: claimsIn }
  },
}

function asked({ table }: QueueTable, found: Document, stages: readonly Document[]): DocumentCommand {
  return { command: { aggregate: collection(table), pipeline: [{ $match: found }, ...stages], cursor: {} } }
}
