import { countIn } from '../claim.ts'
import type { OptimisticStatements } from '../optimistic.ts'
import { sqlVersions } from '../optimistic-sql.ts'
import { syntax } from './syntax.ts'

/**
 * Counted in the same batch: OUTPUT without INTO is refused for a table with triggers, this is not.
 *
 * @see https://learn.microsoft.com/sql/t-sql/queries/output-clause-transact-sql
 */
export const optimistic: OptimisticStatements = sqlVersions(syntax, ({ sql, params }) => ({
  statements: [{ sql: `${sql}; SELECT @@ROWCOUNT AS n`, params }],
  count: countIn,
}))
