import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

import { createLocks } from '../../src/entries/pg.ts'
import {
  assertNoRace,
  describeRace,
  explore,
  RaceError,
  raceHtml,
  type RaceProgress,
} from '../../src/entries/race.ts'
import { describeEngines } from '../engines/use.ts'
import { mustBeClean } from './clean.ts'
import { patient } from './six.ts'
import { fill, numberOf, pgShop } from './stage.ts'

describeEngines(
  (context) => {
    let shop: Awaited<ReturnType<typeof pgShop>>
    beforeAll(async () => {
      shop = await pgShop(context.engine.server.url)
    })
    afterEach(() => mustBeClean(context.engine, shop.pool))
    afterAll(() => shop.close())

    const reset = (): Promise<void> => fill(shop, { 1: 1, 2: 1 })
    const buy = (clause: string) => () =>
      shop.transaction(async (run) => {
        const [row] = await run(`SELECT n FROM item WHERE id = 1 ${clause}`)
        if (Number(row?.n) < 1) return 'sold out'
        await run('UPDATE item SET n = n - 1 WHERE id = 1')
        return 'bought'
      })
    const invariant = async (): Promise<void> => {
      if ((await numberOf(shop, 1)) < 0) throw new Error('sold twice')
    }
    const sale = (clause: string) => ({
      db: shop.db,
      reset,
      actors: { a: buy(clause), b: buy(clause) },
      invariant,
      ...patient,
    })
    /** Where an actor waits for what is not seen, or never ends: only time tells. */
    const impatient = { patienceMs: 300 }

    describe('the last item', () => {
      test('is sold twice without a lock, and the shortest order is told', async () => {
        const { verdict, failure, schedules, isComplete } = await explore(sale(''))
        expect([verdict, failure?.name, failure?.switches, failure?.reason, isComplete]).toEqual([
          'race',
          'a a b b b b a a',
          1,
          'sold twice',
          false,
        ])
        expect(schedules).toBeLessThanOrEqual(50)
      })

      test('is sold once under a row lock, in every order', async () => {
        const report = await assertNoRace(sale('FOR UPDATE'))
        expect(report).toMatchObject({
          verdict: 'none',
          isComplete: true,
          known: report.schedules,
          notes: [],
        })
        expect(report.schedules).toBeGreaterThan(2)
      })

      test('is sold once under a lock of ours', async () => {
        const locks = createLocks(shop.pool)
        const bought = (): Promise<unknown> =>
          locks.withLock('book', async (tx) => {
            const { rows } = await tx.query('SELECT n FROM item WHERE id = 1')
            if (rows[0].n > 0) await tx.query('UPDATE item SET n = n - 1 WHERE id = 1')
          })
        expect(await explore({ ...sale(''), ...impatient, actors: { a: bought, b: bought } })).toMatchObject({
          verdict: 'none',
          isComplete: true,
        })
      })

      test('is found by two explorations at once, which take turns', async () => {
        const reports = await Promise.all([explore(sale('')), explore(sale(''))])
        expect(reports.map(({ failure }) => failure?.name)).toEqual(['a a b b b b a a', 'a a b b b b a a'])
      })

      test('an order runs again alone by its name, and its waits are drawn', async () => {
        const again = await assertNoRace({ ...sale(''), schedule: 'a a b b a b a b' }).catch(
          (error: unknown) => error,
        )
        expect(again).toBeInstanceOf(RaceError)
        const { message, report } = again as RaceError
        expect([report.schedules, report.failure?.name]).toEqual([1, 'a a b b a b a b'])
        expect(report.failure?.trace.map(({ outcome }) => outcome).join(' ')).toBe(
          'done done done done done waits done done',
        )
        expect(message).toMatch(/ 6 .*…\n +waits\n +7 {2}COMMIT +┊\n/)
        expect(message).toContain('✗ the invariant broke: sold twice')
        expect(raceHtml(report)).toContain('sold twice')
        expect(JSON.parse(JSON.stringify(report))).toEqual(report)
      })
    })

    describe('what is no race', () => {
      test('is said first when the actors fail one after the other, too', async () => {
        const report = await explore({
          ...sale(''),
          invariant: () => {
            throw new Error('always')
          },
        })
        expect(report).toMatchObject({ verdict: 'not-a-race', schedules: 1 })
        expect(describeRace(report)).toContain('fail when they run one after the other, too')
      })

      test('is an actor that uses another pool: nothing is known of it', async () => {
        const other = await pgShop(context.engine.server.url, 2)
        try {
          const report = await explore({
            ...sale('FOR UPDATE'),
            actors: { a: buy('FOR UPDATE'), b: () => numberOf(other, 1) },
          })
          expect(report.verdict).toBe('unseen')
          expect(report.notes).toEqual([
            expect.stringContaining('b sent no statement through db'),
            expect.stringContaining('b sent a statement on a connection that it did not take from db'),
          ])
        } finally {
          await other.close()
        }
      })
    })

    describe('nothing stays behind', () => {
      test('of an actor that leaves its transaction open', async () => {
        const leave = async (): Promise<void> => {
          const client = await shop.pool.connect()
          await client.query('BEGIN')
          await client.query('UPDATE item SET n = 0 WHERE id = 1')
          client.release()
        }
        const report = await explore({ ...sale(''), ...impatient, actors: { a: leave, b: buy('') } })
        expect(report.failure).toMatchObject({
          outcome: 'left-open',
          reason: 'a has ended and left a transaction open',
        })
      })

      test('of one that never ends, and the report says what it does', async () => {
        const never = async (): Promise<void> => {
          await shop.transaction(async (run) => {
            await run('UPDATE item SET n = 0 WHERE id = 1')
            await new Promise(() => {})
          })
        }
        const actors = { a: never, b: buy('FOR UPDATE') }
        const report = await explore({ ...sale(''), ...impatient, actors, hangMs: 1000 })
        expect(report.verdict).toBe('hang')
        expect(report.failure?.reason).toContain('a sends nothing and does not end')
        expect(report.failure?.reason).toContain(
          'b waits for a with SELECT n FROM item WHERE id = 1 FOR UPDATE',
        )
      })

      test('of a pool that is too small: who waits for a connection is told', async () => {
        const small = await pgShop(context.engine.server.url, 1)
        try {
          const nested = (): Promise<unknown> => small.transaction(() => numberOf(small, 1))
          const report = await explore({ db: small.db, actors: { a: nested, b: nested }, hangMs: 300 })
          expect(report.failure?.reason).toContain('a waits for a connection of the pool')
        } finally {
          await small.close()
        }
      })

      test('when it is interrupted in the middle of a transaction', async () => {
        const ending = new AbortController()
        const cut = (): Promise<unknown> =>
          shop.transaction(async (run) => {
            await run('UPDATE item SET n = 0 WHERE id = 1')
            ending.abort()
            await run('UPDATE item SET n = 5 WHERE id = 1')
          })
        const report = await explore({ ...sale(''), actors: { a: cut, b: cut }, signal: ending.signal })
        expect(report).toMatchObject({ verdict: 'interrupted', schedules: 1 })
        expect(await numberOf(shop, 1)).toBe(1)
      })
    })

    test('the same seed gives the same schedules and outcomes, again and again', async () => {
      const sightings = new Set<string>()
      for (let round = 1; round <= 20; round += 1) {
        const seen: string[] = []
        const onProgress = ({ last }: RaceProgress): number => seen.push(`${last.name}: ${last.outcome}`)
        await explore({ ...sale(''), invariant: () => {}, schedules: 8, seed: 7, onProgress })
        sightings.add(seen.join('; '))
      }
      expect([...sightings].map((names) => names.split('; ').length)).toEqual([8])
    })

    test('what goes through an ORM is seen when the pool beneath it is passed', async () => {
      const orm = drizzle(shop.pool)
      const bought = (): Promise<void> =>
        orm.transaction(async (tx) => {
          const { rows } = await tx.execute(sql`SELECT n FROM item WHERE id = 1`)
          if (Number(rows[0]?.n) > 0) await tx.execute(sql`UPDATE item SET n = n - 1 WHERE id = 1`)
        })
      const report = await explore({ ...sale(''), actors: { a: bought, b: bought } })
      expect([report.verdict, report.failure?.name]).toEqual(['race', 'a a b b b b a a'])
    })

    test('a deadlock is told as what it is, and is no failure when it is allowed', async () => {
      const move = (from: number, to: number) => () =>
        shop.transaction(async (run) => {
          await run(`UPDATE item SET n = n - 1 WHERE id = ${from}`)
          await run(`UPDATE item SET n = n + 1 WHERE id = ${to}`)
        })
      const transfers = {
        db: shop.db,
        reset,
        ...patient,
        actors: { a: move(1, 2), b: move(2, 1) },
        invariant: async () => expect((await numberOf(shop, 1)) + (await numberOf(shop, 2))).toBe(2),
      }
      const report = await explore(transfers)
      expect(report.failure).toMatchObject({ name: 'a a b b b a a b', outcome: 'conflict', switches: 1 })
      expect(report.failure?.reason).toMatch(/^b was not run again after it threw error: deadlock detected/)
      const allowed = { ...transfers, conflicts: 'allow', schedule: 'a a b b b a a b' } as const
      expect(await explore(allowed)).toMatchObject({ verdict: 'none', schedules: 1 })
    })
  },
  { only: ['postgres'] },
)
