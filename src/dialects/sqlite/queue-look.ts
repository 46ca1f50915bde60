import { sqlQueueLook, type QueueLook } from '../queue-look.ts'
import { syntax } from './claim.ts'

/** https://www.sqlite.org/lang_datefunc.html: a text of date and time, in UTC as CURRENT_TIMESTAMP writes it. */
export const queueLook: QueueLook = sqlQueueLook(
  syntax,
  (date) => `(julianday('now') - julianday(${date})) * 86400000`,
)
