import pg from 'pg'
import { describe, expect, test } from 'vitest'

import { createLocks } from '../../src/entries/pg.ts'
import { describeEngines } from '../engines/use.ts'
import { caught, describeEntries } from '../entries/stage.ts'
import { describeClients, type Client } from './client.ts'
import { describeBodies, note, onKysely } from './stage.ts'

const step = (id: number): string => `update item set n = n + 1 where id = ${id}`

const counted = async (client: Client): Promise<unknown> =>
  (await client.query(undefined, 'select n from item where id in (1, 2) order by id')).map(({ n }) =>
    Number(n),
  )

describe('a function of several statements that the work does not wait for', () => {
  describeEntries((stage) => {
    test('is stored as a whole', async () => {
      const { locks, increment } = stage.entry
      const before = await stage.seen()
      await locks.transaction(async (tx) => {
        const helper = async (): Promise<void> => {
          for (let steps = 0; steps < 5; steps += 1) await increment(tx)
        }
        void helper()
      })
      expect(await stage.seen()).toBe(before + 5)
    })

    test('is stored as a whole with the calls of locks in it', async () => {
      const { locks, increment } = stage.entry
      const before = await stage.seen()
      await locks.transaction(async (tx) => {
        const helper = async (): Promise<void> => {
          await locks.once(tx, 'first', () => increment(tx))
          await increment(tx)
          await locks.once(tx, 'second', () => increment(tx))
          await increment(tx)
        }
        // the first attempt may only have made the table of marks
        void caught(helper())
      })
      expect(await stage.seen()).toBe(before + 4)
    })
  })

  describeBodies(
    ({ transaction, stored }) => {
      test('is stored as a whole', async () => {
        await transaction(async (send) => {
          const helper = async (): Promise<void> => {
            for (const id of [1, 2, 3, 4]) await send(note(id))
          }
          void helper()
        })
        expect(await stored()).toEqual([1, 2, 3, 4])
      })

      test('is not stored at all where one of them fails', async () => {
        const call = transaction(async (send) => {
          const helper = async (): Promise<void> => {
            for (const id of [1, 2, 2, 3]) await send(note(id))
          }
          void caught(helper())
        })
        expect(await caught(call)).toMatchObject({
          name: 'LockUsageError',
          cause: expect.any(Error) as unknown,
        })
        expect(await stored()).toEqual([])
      })
    },
    { only: [onKysely] },
  )

  describeClients((scene) => {
    test('is stored as a whole', async () => {
      const client = scene.connect(1)
      await client.locks.transaction(async (tx) => {
        const transfer = async (): Promise<void> => {
          await client.query(tx, step(1))
          await client.query(tx, 'select 1')
          await client.query(tx, step(2))
        }
        void transfer()
      })
      expect(await counted(client)).toEqual([1, 1])
    })

    test('is stored as a whole when it is the slower one of a race', async () => {
      const client = scene.connect(1)
      await client.locks.transaction(async (tx) => {
        const transfer = async (): Promise<void> => {
          for (const id of [1, 1, 2]) await client.query(tx, step(id))
        }
        await Promise.race([transfer(), client.query(tx, 'select 1')])
      })
      expect(await counted(client)).toEqual([2, 1])
    })

    test('is not stored at all where one of them fails', async () => {
      const client = scene.connect(1)
      const call = client.locks.transaction(async (tx) => {
        const transfer = async (): Promise<void> => {
          await client.query(tx, step(1))
          await client.query(tx, 'select no_such_column from item')
        }
        void caught(transfer())
      })
      expect(await caught(call)).toMatchObject({ name: 'LockUsageError' })
      expect(await counted(client)).toEqual([0, 0])
    })

    test('is run again with the rest where it loses against another', async () => {
      const client = scene.connect(1)
      let runs = 0
      const stale = { table: 'item', key: { id: 1 }, version: 'n', expected: 99, set: {} }
      const work = async (tx: unknown): Promise<void> => {
        runs += 1
        const transfer = async (): Promise<void> => {
          await client.query(tx, step(1))
          if (runs === 1) await client.locks.updateVersioned(tx, stale)
          await client.query(tx, step(2))
        }
        void caught(transfer())
      }
      await client.locks.transaction(work, { backoff: { baseMs: 1 } })
      expect(runs).toBe(2)
      expect(await counted(client)).toEqual([1, 1])
    })

    test('and without end is ended by the signal, and nothing is stored', async () => {
      const client = scene.connect(1)
      const abort = new AbortController()
      let hasReturned = false
      let left = 5
      let over: Promise<unknown> = Promise.resolve()
      const work = async (tx: unknown): Promise<void> => {
        const loop = async (): Promise<never> => {
          for (;;) {
            await client.query(tx, step(1))
            if (hasReturned) left -= 1
            if (left === 0) abort.abort(new Error('enough'))
          }
        }
        over = caught(loop())
        await client.query(tx, 'select 1')
        hasReturned = true
      }
      await expect(client.locks.transaction(work, { signal: abort.signal })).rejects.toThrow('enough')
      expect(await over).toBeInstanceOf(Error)
      expect(await counted(client)).toEqual([0, 0])
    })
  })

  describeEngines(
    (context) => {
      const insert = (id: number): string => `insert into noted values (${id})`
      const storedBy = async (work: (tx: pg.PoolClient) => void, options?: { pipeline: boolean }) => {
        const pool = new pg.Pool({ connectionString: context.engine.server.url, max: 1 })
        await pool.query('create table noted (id integer primary key)')
        await createLocks(pool, options).transaction(async (tx) => work(tx))
        const { rows } = await pool.query<{ id: number }>('select id from noted order by id')
        await pool.query('drop table noted')
        await pool.end()
        return rows.map(({ id }) => id)
      }

      test('is stored as a whole, also by callbacks', async () => {
        const stored = await storedBy((tx) => {
          tx.query(insert(1), () => {
            tx.query('insert into noted values ($1)', [2], () => void tx.query(insert(3)))
          })
        })
        expect(stored).toEqual([1, 2, 3])
      })

      test.each([false, true])(
        'is stored as a whole, also by callbacks among the options of a query (pipeline: %s)',
        async (pipeline) => {
          const stored = await storedBy(
            (tx) => {
              const last = { text: insert(3), callback: () => {} }
              const next = { text: insert(2), callback: () => void tx.query(last as pg.QueryConfig) }
              void tx.query({
                text: insert(1),
                callback: () => void tx.query(next as pg.QueryConfig),
              } as never)
            },
            { pipeline },
          )
          expect(stored).toEqual([1, 2, 3])
        },
      )

      test.each([false, true])(
        'is stored as a whole, also by events of a query (pipeline: %s)',
        async (pipeline) => {
          const stored = await storedBy(
            (tx) => {
              tx.query(new pg.Query(insert(1))).on('end', () => {
                tx.query(new pg.Query(insert(2))).on('end', () => void tx.query(insert(3)))
              })
            },
            { pipeline },
          )
          expect(stored).toEqual([1, 2, 3])
        },
      )
    },
    { only: ['postgres'] },
  )

  describeClients(
    (scene) => {
      test('and without end is ended by the budget, and nothing is stored', async () => {
        const client = scene.connect(1)
        await client.locks.transaction(async () => {}) // its connection is there now: the budget ends that wait, too
        let over: Promise<unknown> = Promise.resolve()
        const work = async (tx: unknown): Promise<void> => {
          const loop = async (): Promise<never> => {
            for (;;) await client.query(tx, step(1))
          }
          over = caught(loop())
        }
        expect(await caught(client.locks.transaction(work, { budgetMs: 1 }))).toBeInstanceOf(Error)
        expect(await over).toBeInstanceOf(Error)
        expect(await counted(client)).toEqual([0, 0])
      })
    },
    ['postgres'],
  )
})
