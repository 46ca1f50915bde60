import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { deferred } from '../../src/conformance/deferred.ts'
import { LockNotAvailableError } from '../../src/core/errors.ts'
import { createLocks } from '../../src/entries/pg.ts'
import { guardHolds, type HoldReport } from '../../src/entries/watch.ts'
import { describeEngines } from '../engines/use.ts'
import { rejection } from './ways.ts'

describeEngines(
  (context) => {
    let pool: pg.Pool
    beforeAll(async () => {
      pool = new pg.Pool({ connectionString: context.engine.server.url, max: 2 })
      await pool.query('DROP TABLE IF EXISTS aa')
      await pool.query('CREATE TABLE aa (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)')
      await pool.query('INSERT INTO aa VALUES (1, 0)')
    })
    afterAll(() => pool.end())

    test('the locks ride with the first statement of the work, and a refusal keeps it from being run', async () => {
      const locks = createLocks(pool, { pipeline: true })
      const add = (tx: pg.PoolClient): Promise<unknown> => tx.query('UPDATE aa SET n = n + 1')
      await locks.transaction(add, { tables: 'aa' })
      const asked = await locks.transaction(
        async (tx) => {
          await add(tx)
          return rejection(
            createLocks(pool, { pipeline: true }).transaction(add, {
              tables: { table: 'aa', wait: 'nowait' },
            }),
          )
        },
        { tables: 'aa' },
      )
      expect(asked).toBeInstanceOf(LockNotAvailableError)
      expect(asked).toMatchObject({ table: 'aa', mode: 'exclusive' })
      const { rows } = await pool.query<{ n: number }>('SELECT n FROM aa')
      expect(rows).toEqual([{ n: 2 }])
    })

    test('a table that is held for too long is told of', async () => {
      const locks = createLocks(pool)
      const told = deferred<HoldReport>()
      const guard = guardHolds({ suspectMs: 1, onHold: told.resolve })
      const report = await locks.transaction(async () => told.promise, { tables: 'aa' })
      guard.stop()
      expect(report.message).toMatch(/the lock on table aa/)
    })
  },
  { only: ['postgres'] },
)
