import { LockUsageError } from '../core/errors.ts'
import type { TableName, Target } from '../core/request.ts'
import type { SqlStatement, Value } from '../core/statement.ts'

/** How a dialect writes names and parameters. */
export interface SqlSyntax {
  readonly quote: (name: string) => string
  /** The placeholder of parameter number `position`, the first being 1. */
  readonly parameter: (position: number) => string
  /** Whether it is the name of a new index that bears the schema, and not that of its table. */
  readonly indexesBearSchema?: true
}

/** Names between `open` and `close`, with `close` doubled inside: the way every SQL engine escapes a quoted name. */
export function quotedBy(open: string, close: string = open): (name: string) => string {
  return (name) => `${open}${name.replaceAll(close, close + close)}${close}`
}

export function quoteTable(syntax: SqlSyntax, table: TableName): string {
  if (typeof table === 'string' && table.includes('.')) throw withDot(table)
  return (typeof table === 'string' ? [table] : table).map(syntax.quote).join('.')
}

function withDot(table: string): LockUsageError {
  return new LockUsageError(
    'table',
    `"${table}" would be one name with a dot in it: pass ${listed(table.split('.'))} for a table in a schema, or ${listed([table])} if that is its name`,
  )
}

function listed(names: readonly string[]): string {
  return `[${names.map((name) => `'${name}'`).join(', ')}]`
}

/** A statement without an answer of its own. */
export function sql(text: string, ...params: readonly Value[]): SqlStatement {
  return { sql: text, params }
}

/** What a dialect adds to a read: hints behind the table, or a clause at the end. */
export interface ReadExtras {
  readonly hints?: readonly string[]
  readonly clause?: string
}

/**
 * Reads the target's rows.
 *
 * Many rows are read in the order of their key: two transactions that lock the same rows in one order cannot
 * deadlock on them.
 */
export function readTarget(syntax: SqlSyntax, target: Target, extras: ReadExtras = {}): SqlStatement {
  const params: Value[] = []
  const place = (value: Value): string => syntax.parameter(params.push(value))
  const columns = Object.entries(target.key)
  const conditions = columns.map(([column, value]) =>
    isList(value)
      ? `${syntax.quote(column)} IN (${value.map(place).join(', ')})`
      : `${syntax.quote(column)} = ${place(value)}`,
  )
  const order = columns.filter(([, value]) => isList(value)).map(([column]) => syntax.quote(column))
  const words = [
    `SELECT * FROM ${quoteTable(syntax, target.table)}`,
    extras.hints && `WITH (${extras.hints.join(', ')})`,
    `WHERE ${conditions.join(' AND ')}`,
    order.length > 0 && `ORDER BY ${order.join(', ')}`,
    extras.clause,
  ]
  return { sql: words.filter(Boolean).join(' '), params }
}

function isList(value: Value | readonly Value[]): value is readonly Value[] {
  return Array.isArray(value)
}
