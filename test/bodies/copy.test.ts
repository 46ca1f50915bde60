import type { PoolClient } from 'pg'
import { describe, expect, test } from 'vitest'

import { createLocks } from '../../src/entries/pg.ts'
import { pgPool } from '../adapters/subject.ts'
import { caught } from '../entries/stage.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'

describe('COPY FROM STDIN as the first statement of work whose beginning would travel with it', () => {
  describeEngines(specs, { only: ['postgres'] })
})

function specs(context: EngineContext): void {
  test.each(['copy filled from stdin', '/* app */ COPY filled FROM STDIN'])(
    '%j is answered, and the connection is good for the next one',
    async (text) => {
      const pool = pgPool(context.engine.server.url)
      const locks = createLocks(pool, { pipeline: true })
      await pool.query('create table if not exists filled (id int)')
      const said = await caught(locks.transaction((tx: PoolClient) => tx.query(text)))
      // the driver has no rows to give
      expect(said).toMatchObject({ code: '57014' })
      await locks.transaction((tx) => tx.query('insert into filled values (1)'))
      await pool.query('drop table filled')
      await pool.end()
    },
  )
}
