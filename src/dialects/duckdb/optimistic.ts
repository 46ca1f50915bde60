import type { OptimisticStatements } from '../optimistic.ts'
import { countReturned, sqlVersions } from '../optimistic-sql.ts'
import { syntax } from './syntax.ts'

/**
 * RETURNING is more than a way to count here. Seen on DuckDB 1.5.6: an UPDATE with it writes a row under a primary key
 * anew, and any two of those conflict. Without it, whether a row is written anew or changed in place depends on the
 * columns that are set (one with an index, a list); one of each kind do not conflict, although both count the version
 * up, and one of the two changes is lost.
 */
export const optimistic: OptimisticStatements = sqlVersions(syntax, countReturned)
