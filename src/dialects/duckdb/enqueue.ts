import { claimText } from '../claim-text.ts'
import { foundIn, type EnqueueStatements } from '../enqueue.ts'
import { createUnique, findWaiting, insertReturning, partsOf, waiting } from '../enqueue-sql.ts'
import { sql } from '../sql.ts'
import { claimSyntax as syntax } from './claim.ts'

/** A job is kept from being claimed by writing to it: with RETURNING any two changes of one row conflict. */
export const enqueue: EnqueueStatements = {
  ...insertReturning(syntax),
  keysAsText: true,
  canCollide: true,
  find: (queue, keys, isHeld) => {
    if (!isHeld) return [findWaiting(syntax, queue, { keys })]
    const text = claimText(syntax, queue)
    const until = syntax.quote(queue.until)
    return [
      text.statement(
        `UPDATE ${text.table} SET ${until} = ${until} WHERE ${text.id} IN ` +
          `(SELECT ${text.key} FROM ${text.from} WHERE ${waiting(text, { syntax, queue, keys })}) ` +
          `RETURNING ${text.id}${text.withExactId(text.id)}`,
      ),
    ]
  },
  index: (queue) => {
    const [table, schema] = partsOf(queue)
    const at = 'schema_name = COALESCE(?, current_schema()) AND table_name = ?'
    const [quoted, unique] = [syntax.quote(queue.unique ?? ''), queue.unique ?? '']
    return foundIn(
      sql(
        `SELECT 1 AS n FROM duckdb_indexes() WHERE ${at} AND is_unique AND expressions IN (?, ?) UNION ALL ` +
          `SELECT 1 AS n FROM duckdb_constraints() WHERE ${at} AND constraint_type = 'UNIQUE' ` +
          'AND len(constraint_column_names) = 1 AND lower(constraint_column_names[1]) = lower(?)',
        schema,
        table,
        `[${unique}]`,
        `['${quoted}']`,
        schema,
        table,
        unique,
      ),
      createUnique(syntax, queue),
    )
  },
}
