import type { Pool, PoolConnection } from 'mariadb'

import { sqlOnly } from '../../../src/adapters/statement-kind.ts'
import { createLocks } from '../../../src/entries/mariadb.ts'
import { mariadbPool } from '../../engines/mariadb-pool.ts'
import { hideTx, ofServer, poolSize, type Ground, type Way } from '../ground.ts'
import { overBadNetwork } from './bad-network.ts'
import { mysqlSettings } from './mysql2.ts'

interface Pooled {
  readonly pool: Pool
  readonly engine: string
  readonly size: number
}

function groundOn({ pool, engine, size }: Pooled): Ground<PoolConnection> {
  const locks = createLocks(pool)
  const settingsOf = async (): Promise<string> => {
    const connection = await pool.getConnection()
    try {
      const rows = await connection.query<readonly { readonly line: unknown }[]>(mysqlSettings(engine))
      return String(rows[0]?.line)
    } catch (error) {
      return String(error)
    } finally {
      void connection.release()
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

export const onMariadb: readonly Way[] = [
  hideTx({
    title: 'mariadb',
    engines,
    open: async (url, engine) =>
      groundOn({ pool: mariadbPool(url, { connectionLimit: poolSize }), engine, size: poolSize }),
  }),
  hideTx({
    title: 'mariadb, a bad network',
    isSlow: true,
    engines,
    open: (target, engine) =>
      overBadNetwork(target, engine, (url) =>
        groundOn({ pool: mariadbPool(url, { connectionLimit: 1 }), engine, size: 1 }),
      ),
  }),
]
