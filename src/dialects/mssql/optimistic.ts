import type { SqlStatement } from '../../core/statement.ts'
import { countIn, type Counted } from '../claim.ts'
import type { OptimisticStatements } from '../optimistic.ts'
import { sqlVersions } from '../optimistic-sql.ts'
import { syntax } from './syntax.ts'

/**
 * Counted in the same batch: OUTPUT without INTO is refused for a table with triggers, this is not.
 *
 * @see https://learn.microsoft.com/sql/t-sql/queries/output-clause-transact-sql
 */
export const optimistic: OptimisticStatements = sqlVersions(syntax, countInBatch)

export function countInBatch({ sql, params }: SqlStatement): Counted {
  return { statements: [{ sql: `${sql}; SELECT @@ROWCOUNT AS n`, params }], count: countIn }
}
