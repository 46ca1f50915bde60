import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

import { createLocks } from '../../src/entries/pg.ts'
import { describeRace, explore } from '../../src/entries/race.ts'
import { Cursor } from '../bodies/cursor.ts'
import { describeEngines } from '../engines/use.ts'
import { mustBeClean } from './clean.ts'
import { patient } from './six.ts'
import { fill, numberOf, pgShop } from './stage.ts'

/* What would make a report say more than is known, or leave something behind. */

describeEngines(
  (context) => {
    let shop: Awaited<ReturnType<typeof pgShop>>
    beforeAll(async () => {
      shop = await pgShop(context.engine.server.url)
      await shop.pool.query('CREATE TABLE stamp (id int PRIMARY KEY, at timestamptz, was timestamptz)')
    })
    afterEach(() => mustBeClean(context.engine, shop.pool))
    afterAll(() => shop.close())

    const reset = (): Promise<void> => fill(shop, { 1: 0, 2: 0 })
    const add = (id = 1): Promise<unknown> => shop.run(`UPDATE item SET n = n + 1 WHERE id = ${id}`)
    const base = () => ({ db: shop.db, reset, ...patient })

    describe('a search is not called complete', () => {
      test('when an actor sends statements on several connections at once', async () => {
        const both = (): Promise<unknown> => Promise.all([add(1), add(2)])
        const report = await explore({ ...base(), actors: { a: both, b: () => add() } })
        expect([report.verdict, report.isComplete]).toEqual(['none', false])
        expect(report.notes).toEqual([expect.stringContaining('a sends statements on several connections')])
      })

      test('when an actor does something else each time', async () => {
        let runs = 0
        const fickle = async (): Promise<void> => {
          runs += 1
          for (let time = 0; time <= runs % 3; time += 1) await add()
        }
        const report = await explore({ ...base(), actors: { a: fickle, b: () => add() } })
        expect([report.verdict, report.isComplete]).toEqual(['none', false])
        expect(report.notes).toEqual([expect.stringContaining('did something else than before')])
      })

      test('when an actor uses another connection beside those of db', async () => {
        const client = new pg.Client({ connectionString: context.engine.server.url })
        await client.connect()
        try {
          const aside = async (): Promise<void> => {
            await add()
            await client.query('SELECT 1')
          }
          const report = await explore({ ...base(), actors: { a: aside, b: () => add() } })
          expect(report.isComplete).toBe(false)
          expect(report.notes).toEqual([expect.stringContaining('a sent a statement on a connection')])
        } finally {
          await client.end()
        }
      })

      test('when it is interrupted in its last schedule', async () => {
        const whole = await explore({ ...base(), actors: { a: () => add(), b: () => add() } })
        const ending = new AbortController()
        let begun = 0
        const cut = async (): Promise<void> => {
          begun += 1
          if (begun === 2 * whole.schedules) ending.abort()
          await add()
        }
        const report = await explore({ ...base(), actors: { a: cut, b: cut }, signal: ending.signal })
        expect([whole.isComplete, report.verdict, report.isComplete]).toEqual([true, 'interrupted', false])
      })
    })

    test('who waits for another in the process can go on as soon as that one lets it', async () => {
      const locks = createLocks(shop.pool)
      const count = (): Promise<void> =>
        locks.withLock('count', async (tx) => void (await tx.query('SELECT 1')), {
          isolation: 'repeatable read',
        })
      await count() // what is asked once of a server has been asked
      const names: string[] = []
      const report = await explore({
        db: shop.db,
        reset,
        actors: { a: count, b: count },
        invariant: async () => {},
        patienceMs: 50,
        onProgress: ({ last }) => void names.push(last.name),
      })
      expect([report.verdict, report.isComplete]).toEqual(['none', true])
      // b stands in the line of this process until a has the lock
      expect(names).toContainEqual(expect.stringMatching(/^a b a b/))
    })

    test('what an actor does not await belongs to its schedule', async () => {
      const float = async (): Promise<void> => {
        void add().then(() => add())
      }
      const report = await explore({
        ...base(),
        actors: { a: float, b: float },
        invariant: async () => expect(await numberOf(shop, 1)).toBe(4),
      })
      expect([report.failure?.reason, report.verdict, report.isComplete]).toEqual([undefined, 'none', true])
      expect(report.schedules).toBe(6)
    })

    test('whoever is left over from one exploration is refused in the next', async () => {
      let goOn = (): void => {}
      const gone = new Promise<void>((resolve) => (goOn = resolve))
      let refused: unknown
      const late = async (): Promise<void> => {
        await add()
        void gone.then(() => add()).catch((error: unknown) => (refused = error))
      }
      await explore({ ...base(), actors: { a: late, b: () => add() }, schedule: 'a b' })
      const actors = { a: () => add(), b: () => add() }
      await explore({ ...base(), reset: async () => (goOn(), reset()), actors, schedule: 'a b' })
      expect(String(refused)).toContain('the schedule of this actor was given up')
    })

    test('somebody comes between BEGIN and now(), which is the time of BEGIN', async () => {
      const stamp = (): Promise<unknown> =>
        shop.transaction((run) => run('UPDATE stamp SET was = at, at = now() WHERE id = 1'))
      const report = await explore({
        ...base(),
        reset: () => shop.run("DELETE FROM stamp; INSERT INTO stamp VALUES (1, '2000-01-01', '2000-01-01')"),
        actors: { a: stamp, b: stamp },
        invariant: async () => {
          const [row] = await shop.run('SELECT at > was AS rises FROM stamp')
          if (row?.rises !== true) throw new Error('the time runs backwards')
        },
      })
      expect([report.verdict, report.failure?.name]).toEqual(['race', 'a b b b a a'])
    })

    test('an order that nobody can run is told, and what was run instead', async () => {
      const actors = { a: () => add(), b: () => add() }
      const report = await explore({ ...base(), actors, schedule: 'a a a b' })
      expect(report.notes).toEqual(['the order a a a b is not possible: a b was run instead'])
      await expect(explore({ ...base(), actors, schedule: ' ' })).rejects.toThrow(/is empty/)
    })

    test('an order that was run alone is not said to be the only one that is wrong', async () => {
      const invariant = (): void => {
        throw new Error('always')
      }
      const actors = { a: async () => (await add(), add()), b: () => add() }
      const report = await explore({ ...base(), actors, invariant, schedule: 'a b a' })
      expect(describeRace(report)).toMatch(/^Wrong in the order a b a\./)
    })

    test('a reset that hangs, and an invariant that does, are named', async () => {
      const actors = { a: () => add(), b: () => add() }
      const never = (): Promise<void> => new Promise(() => {})
      await expect(explore({ ...base(), actors, reset: never, hangMs: 50 })).rejects.toThrow(/reset.*50 ms/)
      const report = await explore({ ...base(), actors, invariant: never, hangMs: 500 })
      expect([report.verdict, report.failure?.reason]).toEqual(['hang', expect.stringContaining('invariant')])
      const ending = new AbortController()
      const cut = explore({
        ...base(),
        actors,
        reset: async () => (ending.abort(), never()),
        signal: ending.signal,
      })
      expect(await cut).toMatchObject({ verdict: 'interrupted', isComplete: false })
      await expect(
        explore({ ...base(), actors, reset: () => Promise.reject(new Error('no')) }),
      ).rejects.toThrow('no')
    })

    test('a session that is ended by the server is an error of the actor, and nothing else', async () => {
      const killed = async (): Promise<void> => {
        const client = await shop.pool.connect()
        client.on('error', () => {})
        await client.query('BEGIN')
        await client.query('UPDATE item SET n = 5 WHERE id = 1')
        const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
        await shop.run(`SELECT pg_terminate_backend(${Number(rows[0].pid)})`)
        await client.query('UPDATE item SET n = 5 WHERE id = 1').finally(() => client.release(true))
      }
      const report = await explore({
        ...base(),
        actors: { a: killed, b: () => add() },
        mayFail: ['a'],
        invariant: async ({ a }) => expect([a.status, await numberOf(shop, 1)]).toEqual(['rejected', 1]),
        switches: 1,
        conflicts: 'allow',
      })
      expect([report.failure?.reason, report.verdict]).toEqual([undefined, 'none'])
    })

    test.each([
      ['a failed one', 'SELECT 1 / 0'],
      ['one that was chained', 'COMMIT AND CHAIN'],
      ['one that went back to a savepoint', 'SAVEPOINT s; ROLLBACK WORK TO SAVEPOINT s'],
      ['one behind a comment', 'COMMIT; /* again */ BEGIN'],
    ])('a transaction is left open: %s', async (_, text) => {
      const leave = async (): Promise<void> => {
        const client = await shop.pool.connect()
        await client.query('BEGIN')
        await client.query(text).catch(() => {})
        client.release()
      }
      const report = await explore({ ...base(), actors: { a: leave, b: () => add(2) } })
      expect(report.failure).toMatchObject({
        outcome: 'left-open',
        reason: expect.stringMatching(/^a has ended/),
      })
    })

    test('cursors, prepared statements, savepoints, LISTEN and a throw at once are seen', async () => {
      const many = async (): Promise<void> => {
        const client = await shop.pool.connect()
        await client.query('LISTEN race')
        await client.query('BEGIN')
        await client.query('SAVEPOINT s')
        await client.query({ name: 'add', text: 'UPDATE item SET n = n + $1 WHERE id = 1', values: [1] })
        await client.query('ROLLBACK TO SAVEPOINT s')
        const cursor = new Cursor('SELECT n FROM item ORDER BY id')
        void client.query(cursor as never)
        await cursor.read(1)
        await cursor.close()
        await Promise.all([client.query('SELECT 1'), client.query('COMMIT')])
        await client.query('UNLISTEN race')
        client.release()
      }
      const throws = (): Promise<void> => {
        throw new Error('at once')
      }
      const report = await explore({ ...base(), actors: { a: many, b: () => add() }, switches: 1 })
      expect([report.failure?.reason, report.verdict, report.completeSwitches]).toEqual([
        undefined,
        'none',
        1,
      ])
      const alone = await explore({ ...base(), actors: { a: throws, b: () => add() } })
      expect([alone.verdict, alone.failure]).toEqual(['failing', undefined])
      const silent = await explore({ ...base(), actors: { a: throws, b: () => add() }, mayFail: ['a'] })
      expect([silent.verdict, silent.failure]).toEqual(['unseen', undefined])
    })
  },
  { only: ['postgres'] },
)
