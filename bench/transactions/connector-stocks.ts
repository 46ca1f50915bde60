import { createPool, type Pool } from 'mariadb'

import { configOf } from '../../test/engines/mariadb-pool.ts'
import type { Library } from './library.ts'
import { checkLeft, type Place, type Shop } from './stock-shop.ts'

/** As on mysql2, through MariaDB's own connector. */
export function onConnector(library: Library, place: Place): Shop {
  const pool = poolOf(place)
  const locks = library.mariadb.createLocks(pool)
  return {
    sell: (id) =>
      locks.transaction(async (tx) => {
        const [row] = await locks.rows<{ pieces: number }>(tx, { table: 'stock', key: { id } })
        checkLeft(row?.pieces)
        await tx.query('update stock set pieces = pieces - 1 where id = ?', [id])
      }),
    close: () => pool.end(),
  }
}

export function connectorByHand(place: Place): Shop {
  const pool = poolOf(place)
  const sell: Shop['sell'] = async (id) => {
    const connection = await pool.getConnection()
    try {
      await connection.beginTransaction()
      const rows = await connection.query<readonly { readonly pieces: number }[]>(
        'select pieces from stock where id = ? for update',
        [id],
      )
      checkLeft(rows[0]?.pieces)
      await connection.query('update stock set pieces = pieces - 1 where id = ?', [id])
      await connection.commit()
    } catch (error) {
      await connection.rollback()
      throw error
    } finally {
      await connection.release()
    }
  }
  return { sell, close: () => pool.end() }
}

function poolOf({ url, connections }: Place): Pool {
  return createPool({ ...configOf(url), connectionLimit: connections })
}
