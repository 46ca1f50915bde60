import { sqlQueueLook, type QueueLook } from '../queue-look.ts'
import { syntax } from './claim.ts'

/** Where a column has no offset, SQL Server takes its date for UTC here. */
export const queueLook: QueueLook = sqlQueueLook(
  syntax,
  (date) => `DATEDIFF_BIG(millisecond, ${date}, SYSDATETIMEOFFSET())`,
)
