import type pg from 'pg'
import { expect } from 'vitest'

import type { Engine } from '../engines/engine.ts'
import { until } from '../engines/until.ts'

/** Nothing is left on the server, and the pool is as it was. */
export async function mustBeClean(engine: Engine, pool: pg.Pool): Promise<void> {
  await until(async () => (await engine.leftovers()).length === 0, 'a server that holds nothing')
  expect([Object.hasOwn(pool, 'connect'), pool.listenerCount('release')]).toEqual([false, 0])
  expect(pool.idleCount).toBe(pool.totalCount)
}
