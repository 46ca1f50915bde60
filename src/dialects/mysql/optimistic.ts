import type { SqlStatement } from '../../core/statement.ts'
import { countIn, type Counted } from '../claim.ts'
import type { OptimisticStatements } from '../optimistic.ts'
import { sqlVersions } from '../optimistic-sql.ts'
import { sql } from '../sql.ts'
import { syntax } from './syntax.ts'

/**
 * MariaDB's too. An UPDATE looks at the newest version of a row, not at the one in the transaction's snapshot. The
 * version always changes, so it does not matter whether the connection counts rows found or rows changed.
 */
export const optimistic: OptimisticStatements = sqlVersions(syntax, countChanged)

export function countChanged(write: SqlStatement): Counted {
  return { statements: [write, sql('SELECT ROW_COUNT() AS n')], count: countIn }
}
