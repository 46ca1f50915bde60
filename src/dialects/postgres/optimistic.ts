import type { OptimisticStatements } from '../optimistic.ts'
import { countReturned, sqlVersions } from '../optimistic-sql.ts'
import { syntax } from './syntax.ts'

export const optimistic: OptimisticStatements = sqlVersions(syntax, countReturned)
