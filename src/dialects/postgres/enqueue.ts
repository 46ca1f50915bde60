import { foundIn, type EnqueueStatements } from '../enqueue.ts'
import { createUnique, findWaiting, insertReturning } from '../enqueue-sql.ts'
import { quoteTable, sql } from '../sql.ts'
import { syntax } from './claim.ts'

/** A claim skips rows that are locked, and those who only find a job do not keep each other waiting. */
export const enqueue: EnqueueStatements = {
  ...insertReturning(syntax),
  find: (queue, keys, isHeld) => [findWaiting(syntax, queue, { keys, clause: isHeld ? ' FOR SHARE' : '' })],
  index: (queue) =>
    foundIn(
      sql(
        'SELECT 1 AS n FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] ' +
          'WHERE i.indrelid = to_regclass($1) AND a.attname = $2 AND i.indisunique AND i.indisvalid ' +
          'AND i.indimmediate AND i.indnatts = 1 AND i.indpred IS NULL ' +
          // a claim empties the column; older servers have no such choice, and no such column in their catalog
          `AND to_jsonb(i)->>'indnullsnotdistinct' IS DISTINCT FROM 'true'`,
        quoteTable(syntax, queue.table),
        queue.unique ?? '',
      ),
      createUnique(syntax, queue),
    ),
}
