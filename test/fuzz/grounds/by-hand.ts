import type pg from 'pg'

import type { Locks } from '../../../src/locks.ts'
import { hideTx, type Ground, type Way } from '../ground.ts'
import { groundOn, poolOf } from './pg.ts'

/** What most programs have: the transaction that every manual shows. It believes what COMMIT does not say. */
export const byHand: Way = hideTx<pg.PoolClient>({
  title: 'by hand',
  engines: ['postgres'],
  open: async (url) => {
    const pool = poolOf(url)
    const ground = groundOn(pool, false)
    const transaction: Locks<pg.PoolClient>['transaction'] = async (work) => {
      const client = await pool.connect()
      try {
        await client.query('BEGIN')
        const result = await work(client)
        await client.query('COMMIT')
        return result
      } catch (error) {
        await client.query('ROLLBACK').catch(() => {})
        throw error
      } finally {
        client.release()
      }
    }
    const plain: Ground<pg.PoolClient> = {
      ...ground,
      words: [],
      isolations: [],
      canKill: false,
      canBeLate: false,
      locks: { ...ground.locks, transaction },
      rows: (tx, { row }) => tx.query(`select * from spot where id = ${row} for update`),
    }
    return plain
  },
})
