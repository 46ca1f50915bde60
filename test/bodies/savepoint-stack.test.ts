import { drizzle } from 'drizzle-orm/node-postgres'
import { sql } from 'drizzle-orm'
import pg from 'pg'
import { describe, expect, test } from 'vitest'

import { createLocks as drizzleLocks } from '../../src/entries/drizzle.ts'
import { createLocks as pgLocks } from '../../src/entries/pg.ts'
import { describeEngines } from '../engines/use.ts'
import { describeClients, type Client } from './client.ts'

const join = { nested: 'join' } as const

/** What the work sends before it takes the lock and while it has it. What fails is caught. */
interface Sent {
  readonly before: readonly string[]
  readonly under: readonly string[]
}

const kept: Readonly<Record<string, Sent>> = {
  'to one set under the lock that hides an older one of its name': {
    before: ['savepoint s'],
    under: ['savepoint s', 'rollback to s'],
  },
  'to one whose namesake was released': {
    before: ['savepoint s', 'savepoint s', 'release s'],
    under: ['savepoint s', 'rollback to s'],
  },
  'to a name in quotes that is no plain word': {
    before: [],
    under: ['savepoint "sp-1"', 'rollback to savepoint "sp-1"'],
  },
  'to a name with a quote in it': {
    before: ['savepoint "a"'],
    under: ['savepoint "a""b"', 'rollback to "a""b"'],
  },
  'to a name with letters that ASCII does not have': {
    before: [],
    under: ['savepoint Éa', 'ROLLBACK TO "Éa"'],
  },
  'to a name with a dollar sign': { before: [], under: ['savepoint a$1', 'rollback work to A$1'] },
  'to a name of another case in quotes': {
    before: ['savepoint "S"'],
    under: ['savepoint S', 'rollback transaction to savepoint s'],
  },
  'that the server has refused': { before: [], under: ['savepoint t', 'rollback to s', 'rollback to t'] },
  'to a name that is one of the words': {
    before: [],
    under: ['savepoint savepoint', 'rollback to savepoint'],
  },
  'that only stands in a comment': { before: ['savepoint s'], under: ['savepoint t /* rollback to s */'] },
}

const lost: Readonly<Record<string, Sent>> = {
  'after a release and a savepoint that the server has refused': {
    before: ['savepoint z'],
    under: ['select 1/0', 'release z', 'savepoint z', 'rollback to z'],
  },
  'to the older one, when the one that hid it is released': {
    before: ['savepoint s'],
    under: ['savepoint s', 'release s', 'rollback to s'],
  },
  'to the older one, when the one that hid it went with another': {
    before: ['savepoint s'],
    under: ['savepoint t', 'savepoint s', 'release savepoint t', 'rollback to s'],
  },
  'to the older one, when the one that hid it was undone': {
    before: ['savepoint s'],
    under: ['savepoint t', 'savepoint s', 'rollback to t', 'rollback to s'],
  },
  'to one whose name differs in case only': {
    before: ['savepoint "S"'],
    under: ['savepoint s', 'rollback to "S"'],
  },
  'to one whose name is cut by the server': {
    before: [`savepoint ${'s'.repeat(63)}`],
    under: [`rollback to ${'s'.repeat(70)}`],
  },
  'to one whose name is spelled with escapes': {
    before: ['savepoint s'],
    under: [String.raw`rollback to U&"\0073"`],
  },
  'after a text of several whose beginning has failed': {
    before: ['savepoint z'],
    under: ['select 1/0; release z; savepoint z', 'rollback to z'],
  },
  'after a text that the server could not read': {
    before: ['savepoint z'],
    under: ['release z; savepoint z; selec 1', 'rollback to z'],
  },
  'in the middle of a text that fails at its end': {
    before: ['savepoint z'],
    under: ['select 1; rollback to z; select 1/0', 'rollback to z'],
  },
}

describeClients(
  (scene) => {
    const key = `stack ${scene.title}`
    const isFree = async (other: Client): Promise<boolean> =>
      (await other.locks.tryLock(key, async () => {})).acquired

    /** Whether the lock was told to be lost, and whether it was. */
    const outcome = async ({ before, under }: Sent): Promise<{ isTold: boolean; isLost: boolean }> => {
      const [client, other] = [scene.connect(2), scene.connect(1)]
      return client.locks.transaction(async (tx) => {
        const send = (text: string): Promise<unknown> => client.query(tx, text).catch(() => {})
        for (const text of before) await send(text)
        return client.locks.withLock(
          key,
          async (_, { signal }) => {
            for (const text of under) await send(text)
            return { isTold: signal.aborted, isLost: await isFree(other) }
          },
          join,
        )
      })
    }

    describe('a lock is known to be held after a return', () => {
      test.for(Object.entries(kept))('%s', async ([, sent]) => {
        expect(await outcome(sent)).toEqual({ isTold: false, isLost: false })
      })
    })

    describe('a lock is told to be lost after a return', () => {
      test.for(Object.entries(lost))('%s', async ([, sent]) => {
        expect(await outcome(sent)).toEqual({ isTold: true, isLost: true })
      })
    })
  },
  ['postgres'],
)

describeEngines(
  (context) => {
    const heldBy = async (pool: pg.Pool): Promise<number> => {
      const { rows } = await pool.query<{ held: number }>(
        `select count(*)::int held from pg_locks
         where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())`,
      )
      return rows[0]?.held ?? -1
    }
    const connect = (): pg.Pool => new pg.Pool({ connectionString: context.engine.server.url, max: 3 })

    test('a return by the name of a prepared statement alone counts', async () => {
      await using pool = Object.assign(connect(), { [Symbol.asyncDispose]: () => pool.end() })
      const locks = pgLocks(pool)
      await locks.transaction(async (tx) => {
        await tx.query('savepoint s')
        await tx.query({ name: 'back', text: 'rollback to s' })
        const isTold = await locks.withLock(
          'by name',
          async (_, { signal }) => {
            await tx.query({ name: 'back', text: undefined as unknown as string })
            return signal.aborted
          },
          join,
        )
        expect({ isTold, held: await heldBy(pool) }).toEqual({ isTold: true, held: 0 })
      })
    })

    test('a COMMIT by the name of a prepared statement alone is refused', async () => {
      await using pool = Object.assign(connect(), { [Symbol.asyncDispose]: () => pool.end() })
      const prepare = async (): Promise<void> => {
        const client = await pool.connect()
        await client.query({ name: 'end', text: 'commit' })
        client.release()
      }
      await prepare()
      await expect(
        pgLocks(pool).transaction((tx) => tx.query({ name: 'end', text: undefined as unknown as string })),
      ).rejects.toThrow('COMMIT would end the transaction')
    })

    test('nested transactions of Drizzle, which all have one name, lose no lock that is held', async () => {
      await using pool = Object.assign(connect(), { [Symbol.asyncDispose]: () => pool.end() })
      const locks = drizzleLocks(drizzle(pool))
      await locks.transaction(async (tx) => {
        const failing = async (): Promise<void> => {
          await tx.transaction((inner) => inner.execute(sql`select 1/0`)).catch(() => {})
        }
        await failing()
        const isTold = await locks.withLock(
          'drizzle',
          async (_, { signal }) => {
            await failing()
            return signal.aborted
          },
          join,
        )
        expect({ isTold, held: await heldBy(pool) }).toEqual({ isTold: false, held: 1 })
      })
    })
  },
  { only: ['postgres'] },
)
