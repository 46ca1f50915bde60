import { describe, expect, test } from 'vitest'

import {
  CommitOutcomeUnknownError,
  LockError,
  LockNotAvailableError,
  LockTimeoutError,
  UnsupportedLockError,
} from '../../src/core/errors.ts'
import type { Client } from '../../src/conformance/subject.ts'
import { until } from '../engines/use.ts'
import { addTo, describeWays, rejection, sendByWork, wordsOf, type Way } from './ways.ts'

const settings = { sql: 'SELECT @@autocommit AS a, @@lock_wait_timeout AS l', params: [] }

/**
 * What the next user of the one connection finds: the settings as they were, every table there to be used, and nobody
 * kept out of the one that was locked.
 */
async function mustBeClean(way: Way, client: Client, before: unknown): Promise<void> {
  expect(await settingsOf(client)).toEqual(before)
  await client.locks.transaction((tx) => addTo(client, tx, 'bb'))
  await until(async () => (await way.context.engine.leftovers()).length === 0, 'nothing is left')
  await way.command('UPDATE aa SET n = 0')
}

async function settingsOf(client: Client): Promise<unknown> {
  const session = await client.sessions.open()
  try {
    const [row] = await session.run(settings)
    return Object.values(row ?? {}).map(Number)
  } finally {
    await session.release()
  }
}

async function rowOf(way: Way, table: string): Promise<unknown> {
  const [row] = await way.command(`SELECT n FROM ${table} WHERE id = 1`)
  return Number((row as { readonly n?: unknown } | undefined)?.n)
}

/** The connections that wait for a table of this database. */
async function waiters(way: Way): Promise<readonly number[]> {
  const rows = await way.command(
    "SELECT id AS waiter FROM information_schema.processlist WHERE db = DATABASE() AND state LIKE 'Waiting for table%'",
  )
  return rows.map((row) => Number((row as { readonly waiter?: unknown }).waiter))
}

describeWays(
  (way) => {
    /** Runs `work` on a pool of one connection, and looks at what the next one finds there. */
    const cleanAfter = async (work: (client: Client) => Promise<unknown>): Promise<void> => {
      const client = await way.open(1)
      const before = await settingsOf(client)
      await work(client)
      await mustBeClean(way, client, before)
    }

    test('nothing is left on the connection after work that is stored', () =>
      cleanAfter(async (client) => {
        await client.locks.transaction((tx) => addTo(client, tx, 'aa'), { tables: 'aa' })
        expect(await rowOf(way, 'aa')).toBe(1)
      }))

    test('nothing is left on the connection after work that throws', () =>
      cleanAfter(async (client) => {
        const thrown = new Error('the work fails')
        const failing = async (tx: object): Promise<never> => {
          await addTo(client, tx, 'aa')
          throw thrown
        }
        expect(await rejection(client.locks.transaction(failing, { tables: 'aa' }))).toBe(thrown)
        expect(await rowOf(way, 'aa')).toBe(0)
      }))

    test('nothing is left on the connection after a table that is not there', () =>
      cleanAfter(async (client) => {
        const error = await rejection(client.locks.transaction(async () => {}, { tables: ['aa', 'zz'] }))
        expect(String(error)).toMatch(/zz/)
      }))

    test('nothing is left on the connection after the use of a table that was not locked, which is refused', () =>
      cleanAfter(async (client) => {
        const using = client.locks.transaction((tx) => addTo(client, tx, 'bb'), { tables: 'aa' })
        expect(wordsOf(await rejection(using))).toMatch(/bb.*not locked/)
      }))

    test('nothing is left on the connection after a write to a table that is only shared, which is refused', () =>
      cleanAfter(async (client) => {
        const tables = { table: 'aa', mode: 'shared' } as const
        const writing = client.locks.transaction((tx) => addTo(client, tx, 'aa'), { tables })
        expect(wordsOf(await rejection(writing))).toMatch(/READ lock/)
      }))

    test('nothing is left on the connection after an abort while it works', () =>
      cleanAfter(async (client) => {
        const stop = new AbortController()
        const working = client.locks.transaction(
          async (tx) => {
            await addTo(client, tx, 'aa')
            stop.abort(new Error('enough'))
            await addTo(client, tx, 'aa')
          },
          { tables: 'aa', signal: stop.signal },
        )
        expect(String(await rejection(working))).toMatch(/enough/)
        expect(await rowOf(way, 'aa')).toBe(0)
      }))

    describe('while another holds the table', () => {
      const whileHeld = async (work: () => Promise<unknown>): Promise<unknown> => {
        const session = await way.context.engine.open()
        await session.run({ sql: 'LOCK TABLES aa WRITE', params: [] })
        try {
          return await work()
        } finally {
          await session.close()
        }
      }

      test('nothing is left on the connection after a wait that is over', () =>
        cleanAfter(async (client) => {
          const tables = { table: 'aa', wait: { timeoutMs: 1000 } } as const
          const asking = (): Promise<unknown> =>
            rejection(client.locks.transaction(async () => {}, { tables }))
          expect(await whileHeld(asking)).toBeInstanceOf(LockTimeoutError)
        }))

      test('nothing is left on the connection after a refusal', () =>
        cleanAfter(async (client) => {
          const tables = { table: 'aa', wait: 'nowait' } as const
          const asking = (): Promise<unknown> =>
            rejection(client.locks.transaction(async () => {}, { tables }))
          expect(await whileHeld(asking)).toBeInstanceOf(LockNotAvailableError)
        }))

      test('nothing is left on the connection after an abort of the wait', () =>
        cleanAfter(async (client) => {
          const stop = new AbortController()
          const asking = async (): Promise<unknown> => {
            const waiting = rejection(
              client.locks.transaction(async () => {}, { tables: 'aa', signal: stop.signal }),
            )
            await until(async () => (await waiters(way)).length > 0, 'the transaction waits for the table')
            stop.abort(new Error('enough'))
            return waiting
          }
          expect(String(await whileHeld(asking))).toMatch(/enough/)
        }))

      test('nothing is left on the connection after a statement that was killed in its wait', () =>
        cleanAfter(async (client) => {
          const asking = async (): Promise<unknown> => {
            const waiting = rejection(client.locks.transaction(async () => {}, { tables: 'aa', attempts: 1 }))
            await until(async () => (await waiters(way)).length > 0, 'the transaction waits for the table')
            for (const id of await waiters(way)) await way.command(`KILL QUERY ${id}`)
            return waiting
          }
          expect(String(await whileHeld(asking))).toMatch(/interrupted/)
        }))
    })

    test('nothing is left on the connection after a connection that was killed while it works', () =>
      cleanAfter(async (client) => {
        const working = client.locks.transaction(
          async (tx) => {
            await addTo(client, tx, 'aa')
            const [row] = await client.run(tx, { sql: 'SELECT CONNECTION_ID() AS id', params: [] })
            await way.command(`KILL ${Number(row?.id)}`)
            await addTo(client, tx, 'aa')
          },
          { tables: 'aa', attempts: 1 },
        )
        await rejection(working)
        expect(await rowOf(way, 'aa')).toBe(0)
      }))

    test('nothing is left on the connection after a transaction that is run again, with its tables, because its connection was killed', () =>
      cleanAfter(async (client) => {
        let runs = 0
        await client.locks.transaction(
          async (tx) => {
            runs += 1
            await addTo(client, tx, 'aa')
            if (runs > 1) return
            const [row] = await client.run(tx, { sql: 'SELECT CONNECTION_ID() AS id', params: [] })
            await way.command(`KILL ${Number(row?.id)}`)
            await addTo(client, tx, 'aa')
          },
          { tables: 'aa' },
        )
        expect([runs, await rowOf(way, 'aa')]).toEqual([2, 1])
      }))

    test('nothing is left on the connection after a procedure that rolls back: what comes behind it is not stored either', () =>
      cleanAfter(async (client) => {
        await way.command('DROP PROCEDURE IF EXISTS holdfast_undo')
        await way.command('CREATE PROCEDURE holdfast_undo() ROLLBACK')
        const working = client.locks.transaction(
          async (tx) => {
            await addTo(client, tx, 'aa')
            await sendByWork(client, tx, 'CALL holdfast_undo()')
            await addTo(client, tx, 'aa')
          },
          { tables: 'aa', attempts: 1 },
        )
        expect(await rejection(working)).toBeInstanceOf(LockError)
        expect(await rowOf(way, 'aa')).toBe(0)
      }))

    test('a connection with autocommit off is refused, and left as it was', async () => {
      const client = await way.open(1)
      const switchTo = async (value: number): Promise<void> => {
        const session = await client.sessions.open()
        // some sessions refuse to go on then
        await session.run({ sql: `SET autocommit = ${value}`, params: [] }).catch(() => {})
        await session.release()
      }
      await client.locks.transaction(async () => {})
      await switchTo(0)
      const error = await rejection(client.locks.transaction(async () => {}, { tables: 'aa' }))
      expect(error).toMatchObject({ name: 'LockUsageError', field: 'pool' })
      const left = (await settingsOf(client).catch(() => [0])) as readonly number[]
      expect(left[0]).toBe(0)
      await switchTo(1)
    })

    test('a lock that has to be just what was asked for is not taken from the beginning', async () => {
      const { locks } = await way.open(1)
      await locks.transaction(
        async (tx) => {
          const error = await rejection(locks.table(tx, 'aa', { exact: true }))
          expect(error).toBeInstanceOf(UnsupportedLockError)
          const shared = await locks.table(tx, 'bb', { mode: 'shared', exact: true })
          expect(shared.support.level).toBe('native')
        },
        { tables: ['aa', { table: 'bb', mode: 'shared' }] },
      )
    })

    test('what is done once says at once that its table was not locked', async () => {
      const client = await way.open(1)
      await client.locks.transaction((tx) => client.locks.once(tx, 'before', async () => {}))
      let runs = 0
      const once = async (tx: object): Promise<unknown> => {
        runs += 1
        return client.locks.once(tx, 'inside', async () => {})
      }
      const error = await rejection(client.locks.transaction(once, { tables: 'aa' }))
      expect(wordsOf(error)).toMatch(/_once.*not locked/)
      expect(runs).toBe(1)
    })

    // with autocommit off the UPDATE begins another transaction, and the server says that one is open
    test.each(['COMMIT', 'ROLLBACK'])(
      'a procedure that does %s and goes on is not taken for one that kept the transaction',
      async (ending) => {
        const client = await way.open(1)
        await way.command('DROP PROCEDURE IF EXISTS holdfast_end')
        await way.command(`CREATE PROCEDURE holdfast_end() BEGIN ${ending}; UPDATE aa SET n = n + 10; END`)
        const calling = (after: () => void): Promise<unknown> => {
          const work = async (tx: object): Promise<void> => {
            await addTo(client, tx, 'aa')
            await sendByWork(client, tx, 'CALL holdfast_end()')
            after()
          }
          return rejection(client.locks.transaction(work, { tables: 'aa', attempts: 1 }))
        }
        const failing = (): never => {
          throw new Error('the work fails')
        }
        for (const after of [() => {}, failing])
          expect(await calling(after)).toBeInstanceOf(CommitOutcomeUnknownError)
        await mustBeClean(way, client, await settingsOf(client))
      },
    )

    test('what the work hears of the end of its transaction does not lead to itself', async () => {
      const client = await way.open(1)
      await way.command('DROP PROCEDURE IF EXISTS holdfast_store')
      await way.command('CREATE PROCEDURE holdfast_store() COMMIT')
      const working = client.locks.transaction(
        async (tx) => {
          await sendByWork(client, tx, 'CALL holdfast_store()')
          await addTo(client, tx, 'aa')
        },
        { tables: 'aa', attempts: 1 },
      )
      const error = await rejection(working)
      expect(error).toBeInstanceOf(CommitOutcomeUnknownError)
      const seen = new Set<unknown>()
      for (let one = error; one instanceof Error; one = one.cause) {
        expect(seen.has(one)).toBe(false)
        seen.add(one)
      }
    })

    test('a procedure that keeps the transaction is part of it, and so is what came before', async () => {
      const client = await way.open(1)
      await way.command('UPDATE aa SET n = 0')
      await way.command('DROP PROCEDURE IF EXISTS holdfast_add')
      await way.command('CREATE PROCEDURE holdfast_add() UPDATE aa SET n = n + 10')
      await client.locks.transaction(
        async (tx) => {
          await addTo(client, tx, 'aa')
          await sendByWork(client, tx, 'CALL holdfast_add()')
          await sendByWork(client, tx, 'CALL holdfast_add()')
        },
        { tables: 'aa', attempts: 1 },
      )
      expect(await rowOf(way, 'aa')).toBe(21)
      await way.command('UPDATE aa SET n = 0')
    })
  },
  ['mysql', 'mariadb'],
)
