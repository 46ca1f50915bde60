import type { TableName } from '../core/request.ts'
import type { SqlStatement, Value } from '../core/statement.ts'
import type { QueueTable } from './claim.ts'
import { claimText, conditionText, orderText, type ClaimSyntax } from './claim-text.ts'
import { quoteTable, sql, type SqlSyntax } from './sql.ts'

/** The columns whose rows stand together in the queue's order: those that have one value. */
export function fixedColumns({ where }: QueueTable): readonly string[] {
  return where.filter(({ values }) => values.length === 1).map(({ column }) => column)
}

/** Its end says which of the table's indexes it is, so a name that is too long for an engine is cut at its beginning. */
export function indexName(table: TableName, end = 'claim'): string {
  return `${typeof table === 'string' ? table : (table.at(-1) ?? '')}_${end}`.slice(-maxName)
}

/** PostgreSQL takes no more, and others no less. */
const maxName = 63

/** `name ON table`. */
export function indexOn(syntax: SqlSyntax, table: TableName, end?: string): string {
  const name = indexName(table, end)
  if (syntax.indexesBearSchema !== true || typeof table === 'string')
    return `${syntax.quote(name)} ON ${quoteTable(syntax, table)}`
  return `${quoteTable(syntax, [...table.slice(0, -1), name])} ON ${quoteTable(syntax, table.slice(-1))}`
}

/** An index on the columns of `where` that have one value, and then on the order. */
export function fullIndex(syntax: SqlSyntax, queue: QueueTable): SqlStatement {
  const fixed = fixedColumns(queue).map(syntax.quote)
  return sql(createIndex(syntax, queue, [...fixed, orderText(queue, syntax.quote)]))
}

/** An index that has only the rows for which `where` holds; on all rows where a value of it cannot be written down. */
export function partialIndex(
  syntax: SqlSyntax,
  queue: QueueTable,
  leading: readonly string[] = [],
): SqlStatement {
  const values = queue.where.flatMap((condition) => condition.values)
  if (values.length === 0 || !values.every(isPlain)) return fullIndex(syntax, queue)
  const rows = queue.where.map((condition) => conditionText(condition, syntax.quote, literal)).join(' AND ')
  const keys = [...leading.map(syntax.quote), orderText(queue, syntax.quote)]
  return sql(`${createIndex(syntax, queue, keys)} WHERE ${rows}`)
}

/** Asks for the plan of a search for the next job. `explain` is how the engine spells that question. */
export function explained(explain: string, syntax: ClaimSyntax, queue: QueueTable): SqlStatement {
  const text = claimText(syntax, queue)
  return text.statement(
    `${explain} SELECT ${text.key} FROM ${text.from} WHERE ${text.claimable()} ORDER BY ${text.order()} LIMIT 1`,
  )
}

function createIndex(syntax: SqlSyntax, { table }: QueueTable, keys: readonly string[]): string {
  return `CREATE INDEX ${indexOn(syntax, table)} (${keys.join(', ')})`
}

function isPlain(value: Value): boolean {
  return typeof value !== 'object' || value === null
}

/** Only for a statement that is shown to people: everything that is run has its values beside it. */
function literal(value: Value): string {
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`
  return typeof value === 'boolean' ? String(value).toUpperCase() : String(value)
}
