import pg from 'pg'
import { afterEach, expect, test } from 'vitest'

import { createLocks } from '../../src/entries/pg.ts'
import type { Locks } from '../../src/locks.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'

const pools: pg.Pool[] = []

afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.end()
})

describeEngines(specs, { only: ['postgres'] })

function specs(context: EngineContext): void {
  /** Locks of another process, of a role whose transactions are at this level unless told. */
  const locksAt = (level: string): Locks<pg.PoolClient, 'postgres'> => {
    const options = `-c default_transaction_isolation=${level.replace(' ', '\\ ')}`
    const pool = new pg.Pool({ connectionString: context.engine.server.url, max: 1, options })
    pools.push(pool)
    return createLocks(pool)
  }

  test.each(['read committed', 'repeatable read', 'serializable'])(
    'where transactions are %s unless told, the work sees at once what the last holder has stored',
    async (level) => {
      const observer = await context.engine.open()
      const say = (sql: string): Promise<readonly object[]> => observer.run({ sql, params: [] })
      await say('drop table if exists booking')
      await say('create table booking (id integer)')
      const waits = async (): Promise<boolean> =>
        (
          await say(
            "select 1 from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database where datname = current_database())",
          )
        ).length > 0
      const [first, second] = [locksAt(level), locksAt(level)]
      let seen: Promise<number> | undefined
      await first.withLock('booking', async (tx) => {
        await tx.query('insert into booking values (1)')
        const look = async (client: pg.PoolClient): Promise<number> =>
          (await client.query('select id from booking')).rows.length
        // once: another attempt would see it in any case
        seen = second.withLock('booking', look, { attempts: 1 })
        await until(waits, 'the second in line')
      })
      expect(await seen).toBe(1)
      await observer.close()
    },
  )
}
