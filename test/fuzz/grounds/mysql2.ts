import mysql from 'mysql2/promise'

import { sqlOnly } from '../../../src/adapters/statement-kind.ts'
import { createLocks } from '../../../src/entries/mysql2.ts'
import { hideTx, ofServer, poolSize, type Ground, type Way } from '../ground.ts'

/** What is the same on every clean connection. */
export function mysqlSettings(engine: string): string {
  const isolation = engine === 'mariadb' ? '@@tx_isolation' : '@@transaction_isolation'
  return `select concat_ws(' ', @@innodb_lock_wait_timeout, @@lock_wait_timeout, @@autocommit, ${isolation}) as line`
}

async function open(url: string, engine: string): Promise<Ground<mysql.PoolConnection>> {
  const pool = mysql.createPool({ uri: url, connectionLimit: poolSize })
  const locks = createLocks(pool)
  const settingsOf = async (): Promise<string> => {
    const connection = await pool.getConnection()
    try {
      const [rows] = await connection.query<mysql.RowDataPacket[]>(mysqlSettings(engine))
      return String(rows[0]?.line)
    } catch (error) {
      return String(error)
    } finally {
      connection.release()
    }
  }
  return {
    ...ofServer,
    locks,
    rows: (tx, { row, ...lock }) => locks.rows(tx, { table: 'spot', key: { id: row } }, lock),
    send: (tx, statement) => tx.query(sqlOnly(statement).sql),
    say: (tx, word) => tx.query(word),
    idOf: (tx) => String(tx.threadId),
    settings: () => Promise.all(Array.from({ length: poolSize }, settingsOf)),
    close: () => pool.end(),
  }
}

export const onMysql2: readonly Way[] = [hideTx({ title: 'mysql2', engines: ['mysql', 'mariadb'], open })]
