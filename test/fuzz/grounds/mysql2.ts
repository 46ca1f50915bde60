import mysql from 'mysql2/promise'

import { sqlOnly } from '../../../src/adapters/statement-kind.ts'
import { createLocks } from '../../../src/entries/mysql2.ts'
import { hideTx, ofServer, poolSize, type Ground, type Way } from '../ground.ts'
import { overBadNetwork } from './bad-network.ts'

/** What is the same on every clean connection. */
export function mysqlSettings(engine: string): string {
  const isolation = engine === 'mariadb' ? '@@tx_isolation' : '@@transaction_isolation'
  return `select concat_ws(' ', @@innodb_lock_wait_timeout, @@lock_wait_timeout, @@autocommit, ${isolation}) as line`
}

interface Pooled {
  readonly pool: mysql.Pool
  readonly engine: string
  readonly size: number
}

function groundOn({ pool, engine, size }: Pooled): Ground<mysql.PoolConnection> {
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
    settings: () => Promise.all(Array.from({ length: size }, settingsOf)),
    close: () => pool.end(),
  }
}

const engines = ['mysql', 'mariadb']

export const onMysql2: readonly Way[] = [
  hideTx({
    title: 'mysql2',
    engines,
    open: async (uri, engine) =>
      groundOn({ pool: mysql.createPool({ uri, connectionLimit: poolSize }), engine, size: poolSize }),
  }),
  hideTx({
    title: 'mysql2, autocommit off',
    engines,
    open: async (uri, engine) => {
      const pool = mysql.createPool({ uri, connectionLimit: poolSize })
      pool.pool.on('connection', (connection) => void connection.query('SET autocommit = 0'))
      return { ...groundOn({ pool, engine, size: poolSize }), isRefused: () => true }
    },
  }),
  hideTx({
    title: 'mysql2, a bad network',
    isSlow: true,
    engines,
    open: (target, engine) =>
      overBadNetwork(target, engine, (uri) =>
        groundOn({ pool: mysql.createPool({ uri, connectionLimit: 1 }), engine, size: 1 }),
      ),
  }),
]
