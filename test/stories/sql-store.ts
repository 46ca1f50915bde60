import type { Target } from '../../src/core/request.ts'
import type { Row, Value } from '../../src/core/statement.ts'
import type { Store } from './shop.ts'

/** How a driver runs one statement. */
export interface SqlRunner<Tx> {
  readonly run: (tx: Tx | undefined, sql: string, params: readonly Value[]) => Promise<readonly Row[]>
  /** The placeholder of parameter number `position`, the first being 1. @default ? */
  readonly parameter?: (position: number) => string
  /** What stands behind the columns of a new table. */
  readonly tableOptions?: string
}

export function sqlStore<Tx>({ run, parameter = () => '?', tableOptions = '' }: SqlRunner<Tx>): Store<Tx> {
  const conditionsOf = ({ key }: Target, params: Value[]): string =>
    Object.entries(key)
      .map(([column, value]) => {
        const places = (Array.isArray(value) ? value : [value]).map((one) => parameter(params.push(one)))
        return `${column} IN (${places.join(', ')})`
      })
      .join(' AND ')
  return {
    find: (tx, target) => {
      const params: Value[] = []
      return run(tx, `SELECT * FROM ${nameOf(target)} WHERE ${conditionsOf(target, params)}`, params)
    },
    all: (table) => run(undefined, `SELECT * FROM ${table}`, []),
    change: async (tx, target, values) => {
      const params: Value[] = []
      const changes = Object.entries(values).map(
        ([column, value]) => `${column} = ${parameter(params.push(value))}`,
      )
      const where = conditionsOf(target, params)
      await run(tx, `UPDATE ${nameOf(target)} SET ${changes.join(', ')} WHERE ${where}`, params)
    },
    add: async (tx, table, row) => {
      const columns = Object.keys(row)
      const places = columns.map((_, index) => parameter(index + 1))
      const text = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places.join(', ')})`
      await run(tx, text, Object.values(row))
    },
    create: async (table, columns) => {
      const types = columns.map((column, index) => `${column} ${columnType(column, index)}`)
      await run(undefined, `CREATE TABLE ${table} (${types.join(', ')}) ${tableOptions}`, [])
    },
    drop: async (table) => void (await run(undefined, `DROP TABLE IF EXISTS ${table}`, [])),
  }
}

/** The first column is the key; a column whose name ends in `code` is text, every other one a whole number. */
function columnType(column: string, index: number): string {
  const type = column.endsWith('code') ? 'VARCHAR(60)' : 'INTEGER'
  return `${type} ${index === 0 ? 'PRIMARY KEY' : 'NOT NULL'}`
}

function nameOf({ table }: Target): string {
  return typeof table === 'string' ? table : table.join('.')
}
