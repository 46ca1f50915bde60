import { claimText } from '../claim-text.ts'
import { foundIn, type EnqueueStatements } from '../enqueue.ts'
import { createUnique, findWaiting, insertHead, rowsText } from '../enqueue-sql.ts'
import { quoteTable, sql } from '../sql.ts'
import { syntax } from './claim.ts'

/**
 * UPDLOCK and HOLDLOCK lock the place of the job before it is there: another who looks waits, until the end of the
 * transaction. Nulls are equal to a unique index here, so it has only the rows that are not.
 *
 * @see https://learn.microsoft.com/sql/t-sql/queries/hints-transact-sql-table
 */
export const enqueue: EnqueueStatements = {
  insert: (queue, jobs) => {
    const text = claimText(syntax, queue)
    const head = `${insertHead(syntax, queue, jobs)} OUTPUT INSERTED.${text.id}`
    const rows = rowsText(text, jobs)
    if (!jobs.isUnique) return text.statement(`${head} VALUES ${rows}`)
    const names = jobs.columns.map(syntax.quote)
    const key = syntax.quote(queue.unique ?? '')
    return text.statement(
      `${head} SELECT ${names.map((name) => `v.${name}`).join(', ')} FROM (VALUES ${rows}) AS v (${names.join(', ')}) ` +
        `WHERE NOT EXISTS (SELECT 1 FROM ${text.from} WITH (UPDLOCK, HOLDLOCK) WHERE j.${key} = v.${key})`,
    )
  },
  keysAsText: true,
  stored: (rows) => rows,
  find: (queue, keys, isHeld) => [
    findWaiting(syntax, queue, {
      keys,
      hints: isHeld ? ' WITH (UPDLOCK, HOLDLOCK, ROWLOCK)' : ' WITH (READCOMMITTEDLOCK)',
    }),
  ],
  index: (queue) =>
    foundIn(
      sql(
        'SELECT i.index_id AS n FROM sys.indexes AS i ' +
          'JOIN sys.index_columns AS c ON c.object_id = i.object_id AND c.index_id = i.index_id ' +
          'WHERE i.object_id = OBJECT_ID(@p1) AND i.is_unique = 1 AND i.is_disabled = 0 AND c.is_included_column = 0 ' +
          'GROUP BY i.index_id HAVING COUNT(*) = 1 AND MAX(COL_NAME(c.object_id, c.column_id)) = @p2',
        quoteTable(syntax, queue.table),
        queue.unique ?? '',
      ),
      createUnique(syntax, queue, ` WHERE ${syntax.quote(queue.unique ?? '')} IS NOT NULL`),
    ),
}
