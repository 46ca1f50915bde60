import type { Statement, Value } from '../../src/core/statement.ts'

/** A table with a column for each kind of value, in one engine's words. */
export interface ValueTable {
  readonly create: Statement
  readonly insert: (values: readonly Value[]) => Statement
  /** Reads the row whose column equals the value; `big` as text, since not every driver reads a bigint as one. */
  readonly find: (column: string, value: Value) => Statement
}

interface Words {
  readonly placeholder: (number: number) => string
  readonly txt?: string
  readonly day: string
  readonly bin: string
  readonly text: string
}

const columns = ['txt', 'big', 'num', 'flag', 'day', 'bin', 'absent'] as const

function valueTable({ placeholder, txt = 'varchar(50)', day, bin, text }: Words): ValueTable {
  const marks = columns.map((_, index) => placeholder(index + 1)).join(', ')
  return {
    create: {
      sql:
        `create table samples (txt ${txt}, big bigint, num double precision, flag boolean, ` +
        `day ${day}, bin ${bin}, absent varchar(50))`,
      params: [],
    },
    insert: (values) => ({ sql: `insert into samples values (${marks})`, params: values }),
    find: (column, value) => ({
      sql: `select txt, cast(big as ${text}) as big, num, flag, day, bin, absent from samples where ${column} = ${placeholder(1)}`,
      params: [value],
    }),
  }
}

const mark = (): string => '?'
const mysql = valueTable({
  placeholder: mark,
  txt: 'varchar(50) character set utf8mb4',
  day: 'datetime(3)',
  bin: 'varbinary(50)',
  text: 'char(50)',
})

export const valueTables: Readonly<Record<string, ValueTable>> = {
  postgres: valueTable({ placeholder: (n) => `$${n}`, day: 'timestamptz', bin: 'bytea', text: 'text' }),
  mysql,
  mariadb: mysql,
  sqlite: valueTable({ placeholder: mark, day: 'text', bin: 'blob', text: 'text' }),
  duckdb: valueTable({ placeholder: mark, day: 'timestamptz', bin: 'blob', text: 'varchar' }),
}
