import type { SqlStatement, Value } from '../../core/statement.ts'

/**
 * Text in which a placeholder is nothing but a placeholder: no quotes, dollar quotes or second statement, and no
 * comment but the name of a key at the end.
 */
const plain = /^(?:[\w\s(),.=:*]|\$[1-9]\d?::)*(?: \/\* hf:[a-z0-9._-]+ \*\/)?$/

/**
 * The statement with its numbers written into the text. Only whole numbers, which cannot end a literal: a statement
 * with any other parameter is refused.
 *
 * Quoted, since `-5::bigint` is the negative of a bigint, and the smallest one has no positive.
 */
export function inHead(statement: SqlStatement): SqlStatement | undefined {
  const { sql, params } = statement
  if (params.length === 0) return statement
  if (!plain.test(sql) || !params.every(isWhole)) return undefined
  let isComplete = true
  const text = sql.replaceAll(/\$(\d+)/g, (_, position: string) => {
    const value = params[Number(position) - 1]
    if (value === undefined) isComplete = false
    return `'${String(value)}'`
  })
  return isComplete ? { ...statement, sql: text, params: [] } : undefined
}

function isWhole(value: Value): value is number | bigint {
  return typeof value === 'bigint' || Number.isSafeInteger(value)
}
