import type { Row, Statement } from '../../src/core/statement.ts'

/** What an application does by itself with its accounts and its notes, in the language of one engine. */
export interface AccountStatements {
  readonly create: readonly Statement[]
  /** Accounts 1 to 3 with a balance of 100 and version 0, and no notes. */
  readonly reset: readonly Statement[]
  readonly read: (id: number) => Statement
  readonly setBalance: (id: number, balance: number) => Statement
  readonly addNote: (code: string) => Statement
  readonly notes: (code: string) => Statement
  readonly insertAccount: (id: number) => Statement
  readonly removeAccount: (id: number) => Statement
}

export function accountStatements(engine: string): AccountStatements {
  return engine === 'mongodb'
    ? documents
    : sqlStatements(/^(?:mysql|mariadb)$/.test(engine) ? 'ENGINE=InnoDB' : '')
}

/** Not in the order of the keys, so that a read of the table as it lies is in another one. */
const ids = [3, 1, 2]

function sqlStatements(tableOptions: string): AccountStatements {
  const sql = (text: string): Statement => ({ sql: text, params: [] })
  const insertAccount = (id: number): Statement =>
    sql(`INSERT INTO account (id, balance, label, version) VALUES (${id}, 100, 'a${id}', 0)`)
  return {
    create: [
      sql(
        'CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL, label VARCHAR(40) UNIQUE, ' +
          `version BIGINT) ${tableOptions}`,
      ),
      sql(`CREATE TABLE note (code VARCHAR(80) NOT NULL) ${tableOptions}`),
      ...ids.map(insertAccount),
    ],
    reset: [sql('DELETE FROM note'), sql('DELETE FROM account'), ...ids.map(insertAccount)],
    read: (id) => sql(`SELECT * FROM account WHERE id = ${id}`),
    setBalance: (id, balance) => sql(`UPDATE account SET balance = ${balance} WHERE id = ${id}`),
    addNote: (code) => sql(`INSERT INTO note (code) VALUES ('${code}')`),
    notes: (code) => sql(`SELECT code FROM note WHERE code = '${code}'`),
    insertAccount,
    removeAccount: (id) => sql(`DELETE FROM account WHERE id = ${id}`),
  }
}

const insertDocument = (id: number): Statement => ({
  command: { insert: 'account', documents: [{ id, balance: 100, label: `a${id}`, version: 0 }] },
})

const unique = { indexes: [{ key: { id: 1 }, name: 'id', unique: true }] }

const documents: AccountStatements = {
  create: [
    { command: { createIndexes: 'account', ...unique } },
    { command: { create: 'note' } },
    ...ids.map(insertDocument),
  ],
  reset: [
    { command: { delete: 'note', deletes: [{ q: {}, limit: 0 }] } },
    { command: { delete: 'account', deletes: [{ q: {}, limit: 0 }] } },
    ...ids.map(insertDocument),
  ],
  read: (id) => ({ command: { find: 'account', filter: { id } } }),
  setBalance: (id, balance) => ({
    command: { update: 'account', updates: [{ q: { id }, u: { $set: { balance } } }] },
  }),
  addNote: (code) => ({ command: { insert: 'note', documents: [{ code }] } }),
  notes: (code) => ({ command: { find: 'note', filter: { code } } }),
  insertAccount: insertDocument,
  removeAccount: (id) => ({ command: { delete: 'account', deletes: [{ q: { id }, limit: 1 }] } }),
}

/** The balance in a row, whatever the driver makes of a number. */
export function balanceIn([row]: readonly Row[]): number {
  return Number(row?.balance)
}

export function versionOf([row]: readonly Row[]): number {
  return Number(row?.version)
}
