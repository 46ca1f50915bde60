import type { SqlStatement, Value } from '../core/statement.ts'
import { quoteTable, sql, type SqlSyntax } from './sql.ts'
import type { Fixture } from './tools.ts'

export interface FixtureTraits {
  /** What stands behind the columns of CREATE TABLE. */
  readonly tableOptions?: string
  readonly settings?: SqlStatement
}

const queueColumns =
  'id INTEGER PRIMARY KEY, n INTEGER NOT NULL, state VARCHAR(20) NOT NULL, claim_token VARCHAR(36), ' +
  'claimed_until BIGINT, claimed_by VARCHAR(60), attempts INTEGER NOT NULL'

/** The fixture of engines that speak SQL: the words are the same everywhere, names and parameters are not. */
export function sqlFixture(syntax: SqlSyntax, { tableOptions = '', settings }: FixtureTraits = {}): Fixture {
  const { quote, parameter } = syntax
  const make = (table: string, columns: string): SqlStatement =>
    sql(`CREATE TABLE ${quote(table)} (${columns}) ${tableOptions}`.trimEnd())
  return {
    create: (table) => make(table, 'id INTEGER PRIMARY KEY, n INTEGER NOT NULL'),
    createQueue: (table) => make(table, queueColumns),
    drop: (table) => sql(`DROP TABLE ${quote(table)}`),
    insert: (table, row) => insertInto(syntax, table, row),
    read: (table, id) => sql(`SELECT n FROM ${quote(table)} WHERE id = ${parameter(1)}`, id),
    all: (table) => sql(`SELECT * FROM ${quote(table)} ORDER BY id`),
    write: (table, id, n) =>
      sql(`UPDATE ${quote(table)} SET n = ${parameter(1)} WHERE id = ${parameter(2)}`, n, id),
    delete: (table, id) => sql(`DELETE FROM ${quote(table)} WHERE id = ${parameter(1)}`, id),
    add: (table, id, by) =>
      sql(`UPDATE ${quote(table)} SET n = n + ${parameter(1)} WHERE id = ${parameter(2)}`, by, id),
    target: (table, id) => ({ table, key: { id } }),
    ...(settings && { settings }),
  }
}

function insertInto(syntax: SqlSyntax, table: string, row: Readonly<Record<string, Value>>): SqlStatement {
  const columns = Object.keys(row)
  const places = columns.map((_, index) => syntax.parameter(index + 1))
  return sql(
    `INSERT INTO ${quoteTable(syntax, table)} (${columns.map(syntax.quote).join(', ')}) VALUES (${places.join(', ')})`,
    ...Object.values(row),
  )
}
