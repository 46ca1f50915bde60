import { foundIn, type EnqueueStatements } from '../enqueue.ts'
import { createUnique, findWaiting, insertReturning, partsOf } from '../enqueue-sql.ts'
import { sql } from '../sql.ts'
import { syntax } from './claim.ts'

/** A transaction that writes is the only one, so nothing has to be kept from being claimed. */
export const enqueue: EnqueueStatements = {
  ...insertReturning(syntax),
  find: (queue, keys) => [findWaiting(syntax, queue, { keys })],
  index: (queue) => {
    const [table, schema] = partsOf(queue)
    return foundIn(
      sql(
        'SELECT i.name AS n FROM pragma_index_list(?, ?) AS i JOIN pragma_index_info(i.name, ?) AS c ' +
          'WHERE i."unique" = 1 AND i.partial = 0 GROUP BY i.name ' +
          'HAVING COUNT(*) = 1 AND LOWER(MAX(c.name)) = LOWER(?)',
        table,
        schema,
        schema,
        queue.unique ?? '',
      ),
      createUnique(syntax, queue),
    )
  },
}
