import type { Row, Value } from 'holdfast'

/**
 * The little that the stories do to their tables, so that one story serves every database. An application has its
 * driver's own calls here, or a query builder's. Every table has a column `id`, which is its primary key.
 */
export interface Tables {
  readonly create: (table: string, columns: Readonly<Record<string, ColumnType>>) => Promise<unknown>
  /** The rows with these values, by their id. */
  readonly find: <R extends object = Row>(table: string, values?: Values) => Promise<readonly R[]>
  readonly insert: (table: string, row: Values) => Promise<unknown>
  readonly update: (table: string, id: Value, changes: Values) => Promise<unknown>
}

export type ColumnType = 'text' | 'integer' | 'bigint'

export type Values = Readonly<Record<string, Value>>

export type Send = (sql: string, params: readonly Value[]) => Promise<readonly Row[]>

const types: Readonly<Record<ColumnType, string>> = {
  text: 'VARCHAR(60)',
  integer: 'INTEGER',
  bigint: 'BIGINT',
}

/** The tables of a database that speaks SQL. A parameter is written as `?`. */
export function sqlTables(send: Send): Tables {
  const join = (columns: Values, glue: string): string =>
    Object.keys(columns)
      .map((column) => `${column} = ?`)
      .join(glue)
  return {
    create: async (table, columns) => {
      const lines = Object.entries(columns).map(
        ([name, type]) => `${name} ${types[type]}${name === 'id' ? ' NOT NULL PRIMARY KEY' : ''}`,
      )
      await send(`CREATE TABLE ${table} (${lines.join(', ')})`, [])
    },
    find: async <R extends object>(table: string, values: Values = {}) => {
      const where = Object.keys(values).length === 0 ? '' : ` WHERE ${join(values, ' AND ')}`
      const rows = await send(`SELECT * FROM ${table}${where} ORDER BY id`, Object.values(values))
      return rows as readonly R[]
    },
    insert: (table, row) => {
      const marks = Object.keys(row).map(() => '?')
      const columns = Object.keys(row).join(', ')
      return send(`INSERT INTO ${table} (${columns}) VALUES (${marks.join(', ')})`, Object.values(row))
    },
    update: (table, id, changes) =>
      send(`UPDATE ${table} SET ${join(changes, ', ')} WHERE id = ?`, [...Object.values(changes), id]),
  }
}

/** For databases that number their parameters: `$1`, `$2` or `@p1`, `@p2`. */
export function numbered(sql: string, mark: string): string {
  let count = 0
  return sql.replaceAll('?', () => `${mark}${(count += 1)}`)
}
