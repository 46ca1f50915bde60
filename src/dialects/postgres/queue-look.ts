import { sqlQueueLook, type QueueLook } from '../queue-look.ts'
import { syntax } from './claim.ts'

export const queueLook: QueueLook = sqlQueueLook(
  syntax,
  (date) => `extract(epoch FROM clock_timestamp() - ${date}) * 1000`,
)
