import type { SqlStatement, Statement } from '../../src/core/statement.ts'

const sql = (text: string): SqlStatement => ({ sql: text, params: [] })

/** What the specs need to say in an engine's own language. */
export interface Fixture {
  /** Makes the rows that the cases lock. */
  readonly createAccounts: readonly Statement[]
  /** Reads every session setting that a plan may change, as one row. */
  readonly readSettings?: Statement
}

const accounts = [
  sql('CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL)'),
  sql('INSERT INTO account (id, balance) VALUES (3, 100), (7, 100)'),
]

const innodb: Fixture = {
  createAccounts: accounts,
  readSettings: sql(
    'SELECT @@SESSION.innodb_lock_wait_timeout AS a, @@SESSION.lock_wait_timeout AS b, @@SESSION.autocommit AS c',
  ),
}

export const fixtures: Readonly<Record<string, Fixture>> = {
  postgres: { createAccounts: accounts, readSettings: sql("SELECT current_setting('lock_timeout') AS a") },
  mysql: innodb,
  mariadb: innodb,
  sqlite: { createAccounts: accounts, readSettings: sql('PRAGMA busy_timeout') },
  duckdb: { createAccounts: accounts },
  mssql: { createAccounts: accounts, readSettings: sql('SELECT @@LOCK_TIMEOUT AS a') },
  mongodb: {
    createAccounts: [
      {
        command: {
          insert: 'account',
          documents: [
            { id: 3, balance: 100 },
            { id: 7, balance: 100 },
          ],
        },
      },
    ],
  },
}
