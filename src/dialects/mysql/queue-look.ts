import { sqlQueueLook, type QueueLook } from '../queue-look.ts'
import { syntax } from './claim.ts'

export const queueLook: QueueLook = sqlQueueLook(
  syntax,
  (date) => `TIMESTAMPDIFF(MICROSECOND, ${date}, NOW(6)) DIV 1000`,
)
