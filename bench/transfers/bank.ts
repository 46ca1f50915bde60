import mysql from 'mysql2/promise'
import type pg from 'pg'

import { createLocks as createMysqlLocks } from '../../src/entries/mysql2.ts'
import { createLocks as createPgLocks } from '../../src/entries/pg.ts'
import type { Locks } from '../../src/locks.ts'
import type { TransactionOptions } from '../../src/locks/transaction/options.ts'
import type { Server } from '../../test/engines/engine.ts'
import { openPool } from '../pool.ts'

/** From whom to whom. */
export interface Transfer {
  readonly from: number
  readonly to: number
}

/** Ten accounts that everybody wants, and three ways to move money between two of them. */
export interface Bank {
  readonly transfer: (way: TransferWay, between: Transfer, options: TransactionOptions) => Promise<void>
  /** Of all accounts together: no transfer may change it. */
  readonly total: () => Promise<number>
  readonly close: () => Promise<void>
}

export type TransferWay = 'ordered' | 'unordered' | 'serializable'

export const accountCount = 10
const create = [
  'CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL)',
  `INSERT INTO account VALUES ${Array.from({ length: accountCount }, (_, id) => `(${id}, 1000)`).join(', ')}`,
]

/** The statements of a transfer on one engine. */
interface Teller<Tx> {
  readonly locks: Pick<Locks<Tx>, 'transaction' | 'inOrder'>
  readonly run: (tx: Tx, sql: string, values: readonly number[]) => Promise<unknown>
  readonly total: () => Promise<number>
  readonly close: () => Promise<void>
}

export async function openBank(server: Server, workers: number): Promise<Bank> {
  return server.engine === 'postgres'
    ? bankOf(await pgTeller(server.url, workers), (place) => `$${place}`)
    : bankOf(await mysqlTeller(server.url, workers), () => '?')
}

function bankOf<Tx>(teller: Teller<Tx>, parameter: (place: number) => string): Bank {
  const { locks, run, total, close } = teller
  const change = (tx: Tx, amount: 1 | -1, id: number): Promise<unknown> =>
    run(tx, `UPDATE account SET balance = balance + (${amount}) WHERE id = ${parameter(1)}`, [id])
  const move = async (tx: Tx, { from, to }: Transfer): Promise<void> => {
    await change(tx, -1, from)
    await change(tx, 1, to)
  }
  return {
    total,
    close,
    transfer: async (way, between, options) => {
      const isolation = way === 'serializable' ? { isolation: 'serializable' as const } : {}
      await locks.transaction(
        async (tx) => {
          if (way === 'ordered') {
            const { from, to } = between
            await locks.inOrder(tx, [
              { table: 'account', key: { id: from } },
              { table: 'account', key: { id: to } },
            ])
          }
          await move(tx, between)
        },
        { ...options, ...isolation },
      )
    },
  }
}

async function pgTeller(url: string, workers: number): Promise<Teller<pg.PoolClient>> {
  const pool = openPool(url, workers)
  for (const text of create) await pool.query(text)
  // as the server comes: the tests have it find deadlocks sooner
  const { rows } = await pool.query<{ name: string }>('SELECT current_database() AS name')
  await pool.query(`ALTER DATABASE ${rows[0]?.name} SET deadlock_timeout = '1s'`)
  await pool.end()
  const again = openPool(url, workers)
  return {
    locks: createPgLocks(again),
    run: (tx, text, values) => tx.query(text, [...values]),
    total: async () =>
      Number((await again.query<{ n: string }>('SELECT sum(balance) AS n FROM account')).rows[0]?.n),
    close: () => again.end(),
  }
}

async function mysqlTeller(url: string, workers: number): Promise<Teller<mysql.PoolConnection>> {
  const pool = mysql.createPool({ uri: url, connectionLimit: workers })
  for (const text of create) await pool.query(text)
  return {
    locks: createMysqlLocks(pool),
    run: (tx, text, values) => tx.execute(text, [...values]),
    total: async () => {
      const [rows] = await pool.query<mysql.RowDataPacket[]>('SELECT sum(balance) AS n FROM account')
      return Number(rows[0]?.n)
    },
    close: () => pool.end(),
  }
}
