import { LockUsageError } from '../core/errors.ts'
import { isSql, type DocumentCommand, type SqlStatement, type Statement } from '../core/statement.ts'

export function sqlOnly(statement: Statement): SqlStatement {
  if (isSql(statement)) return statement
  throw new LockUsageError('statement', 'this database runs SQL, not document commands')
}

export function commandOnly(statement: Statement): DocumentCommand {
  if (!isSql(statement)) return statement
  throw new LockUsageError('statement', 'this database runs document commands, not SQL')
}
