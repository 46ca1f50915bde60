import type { SqlStatement, Value } from '../../../src/core/statement.ts'

export function sql(text: string, ...params: readonly Value[]): SqlStatement {
  return { sql: text, params }
}
