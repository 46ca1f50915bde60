import { claimText } from '../claim-text.ts'
import { foundIn, type EnqueueStatements } from '../enqueue.ts'
import { createUnique, findWaiting, insertHead, partsOf, rowsText } from '../enqueue-sql.ts'
import { sql } from '../sql.ts'
import { syntax } from './claim.ts'

/**
 * MariaDB's too. INSERT IGNORE would take every other error for a duplicate, and ON DUPLICATE KEY UPDATE a duplicate in
 * any other index. A duplicate undoes the INSERT alone, and leaves its place in the index locked.
 */
export const enqueue: EnqueueStatements = {
  insert: (queue, jobs) => {
    const text = claimText(syntax, queue)
    return text.statement(`${insertHead(syntax, queue, jobs)} VALUES ${rowsText(text, jobs)}`)
  },
  keysAsText: true,
  // what others have stored since the transaction's first read is seen by a locking read only; a shared one, since the
  // INSERT has a shared lock already: two that wanted more would deadlock
  find: (queue, keys) => [findWaiting(syntax, queue, { keys, clause: ' LOCK IN SHARE MODE' })],
  index: (queue) => {
    const [table, schema] = partsOf(queue)
    return foundIn(
      sql(
        'SELECT MAX(index_name) AS n FROM information_schema.statistics ' +
          'WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ? GROUP BY index_name ' +
          'HAVING COUNT(*) = 1 AND MAX(non_unique) = 0 AND MAX(sub_part) IS NULL AND LOWER(MAX(column_name)) = LOWER(?)',
        schema,
        table,
        queue.unique ?? '',
      ),
      createUnique(syntax, queue),
    )
  },
}
