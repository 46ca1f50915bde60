import { sqlQueueLook, type QueueLook } from '../queue-look.ts'
import { claimSyntax } from './claim.ts'

export const queueLook: QueueLook = sqlQueueLook(
  claimSyntax,
  (date) => `date_diff('millisecond', CAST(${date} AS TIMESTAMPTZ), now())`,
)
