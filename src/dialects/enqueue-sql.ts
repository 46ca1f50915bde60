import type { SqlStatement, Value } from '../core/statement.ts'
import type { QueueTable } from './claim.ts'
import { indexOn } from './claim-index.ts'
import { alias, claimText, type ClaimSyntax, type ClaimText } from './claim-text.ts'
import type { EnqueueStatements, NewRows } from './enqueue.ts'
import { quoteTable, type SqlSyntax } from './sql.ts'

/** `INSERT INTO table (columns)`. */
export function insertHead(syntax: SqlSyntax, { table }: QueueTable, { columns }: NewRows): string {
  return `INSERT INTO ${quoteTable(syntax, table)} (${columns.map(syntax.quote).join(', ')})`
}

/** `(a, b), (c, d)`. */
export function rowsText({ value }: Pick<ClaimText, 'value'>, { rows }: NewRows): string {
  return rows.map((row) => `(${row.map((one) => value(one as Value)).join(', ')})`).join(', ')
}

/** Reads the ids of jobs that wait with these keys. `clause` keeps them as they are, where the engine has such words. */
export function findWaiting(
  syntax: ClaimSyntax,
  queue: QueueTable,
  { keys, hints = '', clause = '' }: Finding,
): SqlStatement {
  const text = claimText(syntax, queue)
  return text.statement(
    `SELECT ${text.key}${text.withExactId(text.key)} FROM ${text.from}${hints} WHERE ${waiting(text, { syntax, queue, keys })}${clause}`,
  )
}

interface Waiting {
  readonly syntax: SqlSyntax
  readonly queue: QueueTable
  readonly keys: readonly unknown[]
}

/** Rows of the queue that nobody has claimed, with one of these in the column `unique`. */
export function waiting(text: ClaimText, { syntax, queue, keys }: Waiting): string {
  const at = (column: string): string => `${alias}.${syntax.quote(column)}`
  const matching = text.matching()
  const listed = keys.map((key) => text.value(key as Value)).join(', ')
  return `${matching} AND ${at(queue.token)} IS NULL AND ${at(queue.unique ?? '')} IN (${listed})`
}

interface Finding {
  readonly keys: readonly unknown[]
  readonly hints?: string
  readonly clause?: string
}

/** For engines that leave out what is there, and answer with what they have stored. */
export function insertReturning(syntax: ClaimSyntax): Required<Pick<EnqueueStatements, 'insert' | 'stored'>> {
  return {
    insert: (queue, jobs) => {
      const text = claimText(syntax, queue)
      const unless = jobs.isUnique ? ` ON CONFLICT (${syntax.quote(queue.unique ?? '')}) DO NOTHING` : ''
      return text.statement(
        `${insertHead(syntax, queue, jobs)} VALUES ${rowsText(text, jobs)}${unless} ` +
          `RETURNING ${text.id}${text.withExactId(text.id)}`,
      )
    },
    stored: (rows) => rows,
  }
}

/** The index of a table is called by the column, so that it does not bear the name of the one for claims. */
export function createUnique(syntax: SqlSyntax, { table, unique = '' }: QueueTable, rows = ''): string {
  return `CREATE UNIQUE INDEX ${indexOn(syntax, table, unique)} (${syntax.quote(unique)})${rows}`
}

/** The table's own name, and that of its schema. */
export function partsOf({ table }: QueueTable): readonly [name: string, schema: string | null] {
  const parts = typeof table === 'string' ? [table] : table
  return [parts.at(-1) ?? '', parts.at(-2) ?? null]
}
