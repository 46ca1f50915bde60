import pg from 'pg'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'

import { createLocks, type Locks } from '../../src/entries/pg.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'

type Query = (...args: unknown[]) => unknown

/** What a program may put in the place of a client's `query`, to count or to log what is sent. */
const replacements: Readonly<Record<string, (query: Query) => Query>> = {
  'passes on a text and its values, and gives a promise': (query) => async (text, values) =>
    query(text, values),
  'passes on all, and gives a promise':
    (query) =>
    async (...args) =>
      query(...args),
  'passes on all, and gives what it was given':
    (query) =>
    (...args) =>
      query(...args),
}

const calls: Readonly<Record<string, (locks: Locks<pg.PoolClient, 'postgres'>) => Promise<unknown>>> = {
  transaction: (locks) => locks.transaction(async (tx) => (await tx.query<object>('select 1 as n')).rows),
  rows: (locks) =>
    locks.transaction(async (tx) => [...(await locks.rows(tx, { table: 'counter', key: { id: 1 } }))]),
  withLock: (locks) => locks.withLock('replaced', async () => 'work'),
  acquire: async (locks) => {
    const held = await locks.acquire('replaced')
    await held.release()
    return 'work'
  },
  lease: async (locks) => {
    const held = await locks.lease('replaced', { ttlMs: 60_000 })
    await held.release()
    return 'work'
  },
  inspect: async (locks) => (await locks.inspect()).dialect,
}

const expected: Readonly<Record<string, unknown>> = {
  transaction: [{ n: 1 }],
  rows: [expect.objectContaining({ id: 1 })],
  inspect: 'postgres',
}

describe('a client whose query was replaced', () => {
  describeEngines(specs, { only: ['postgres'] })
})

function specs(context: EngineContext): void {
  const pools: pg.Pool[] = []
  beforeAll(async () => {
    const session = await context.engine.open()
    for (const statement of context.kind.sample.setUp) await session.run(statement)
    await session.close()
  })
  afterEach(async () => {
    for (const pool of pools.splice(0)) await pool.end()
  })

  for (const [title, replace] of Object.entries(replacements)) {
    describe(`by one that ${title}`, () => {
      test.for(
        [undefined, true, false].flatMap((pipeline) =>
          Object.keys(calls).map((call) => ({ pipeline, call })),
        ),
      )('has its answers: %j', async ({ pipeline, call }) => {
        const pool = new pg.Pool({ connectionString: context.engine.server.url, max: 2 })
        pools.push(pool)
        pool.on('connect', (client) => {
          const query = (client.query as Query).bind(client)
          client.query = replace(query) as typeof client.query
        })
        const locks = createLocks(pool, pipeline === undefined ? {} : { pipeline })
        expect(await calls[call]?.(locks)).toEqual(expected[call] ?? 'work')
        expect(pool.idleCount).toBe(pool.totalCount)
      })
    })
  }
}
