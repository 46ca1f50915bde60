import { sessions } from '../../src/adapters/mariadb/sessions.ts'
import { mariadbPool } from '../engines/mariadb-pool.ts'
import type { OrmWay } from '../orms/way.ts'

/** The connector of MariaDB, on both servers that it reaches. */
export const mariadbWay: OrmWay = {
  name: 'mariadb',
  engines: ['mysql', 'mariadb'],
  connect: async (_, url, size) => {
    const pool = mariadbPool(url, { connectionLimit: size })
    return { sessions: sessions(pool), size, close: () => pool.end() }
  },
}
