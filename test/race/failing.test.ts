import { afterAll, beforeAll, expect, test } from 'vitest'

import { assertNoRace, describeRace, explore, RaceError, raceHtml } from '../../src/entries/race.ts'
import { describeEngines } from '../engines/use.ts'
import { patient } from './six.ts'
import { fill, kyselyOnSqlite, mysqlShop, numberOf, pgShop, type Shop } from './stage.ts'

/* An actor that always fails breaks nothing: a test of it would be green for as long as nobody looks. */

const opens: Readonly<Record<string, (url: string) => Promise<Shop>>> = {
  postgres: pgShop,
  mysql: mysqlShop,
  mariadb: mysqlShop,
  sqlite: kyselyOnSqlite,
}

describeEngines(
  (context) => {
    let shop: Shop
    beforeAll(async () => {
      shop = await (opens[context.name] ?? kyselyOnSqlite)(context.engine.server.url)
    })
    afterAll(() => shop.close())

    const reset = (): Promise<void> => fill(shop, { 1: 0 })
    const base = () => ({ db: shop.db, reset, switches: 1, ...patient })
    const add = (): Promise<unknown> => shop.run('UPDATE item SET n = n + 1 WHERE id = 1')
    const misspelled = (): Promise<unknown> => shop.run('UPDATE itm SET n = 1')
    const insert = (): Promise<unknown> => shop.run('INSERT INTO item VALUES (2, 0)')

    test('where every actor fails in every schedule, nothing is said to be right', async () => {
      const actors = { a: misspelled, b: misspelled }
      const report = await explore({ ...base(), actors })
      expect([report.verdict, report.failure]).toEqual(['failing', undefined])
      expect(describeRace(report)).toMatch(/^Nothing can be said: not every actor has succeeded/)
      expect(raceHtml(report)).toContain('succeeded in no schedule')
      const error: unknown = await assertNoRace({ ...base(), actors }).catch((why: unknown) => why)
      expect(error).toBeInstanceOf(RaceError)
      const words = String(error).replaceAll(/\s+/g, ' ')
      expect(words).toMatch(/a succeeded in no schedule \(it threw .*itm.*mayFail: \['a'\]/)
      expect(words).toMatch(/b succeeded in no schedule \(it threw .*itm.*mayFail: \['b'\]/)
    })

    test('one that fails in every schedule is named, also when it is run in one order alone', async () => {
      const actors = { a: misspelled, b: add }
      const named = [expect.stringMatching(/^a succeeded in no schedule .*itm/)]
      expect(await explore({ ...base(), actors })).toMatchObject({ verdict: 'failing', notes: named })
      const alone = explore({ ...base(), actors, schedule: 'a b' })
      expect(await alone).toMatchObject({ verdict: 'failing', notes: named })
    })

    test('one that fails in some orders only is a result like any other', async () => {
      const report = await assertNoRace({ ...base(), actors: { a: insert, b: insert } })
      expect([report.verdict, report.notes]).toEqual(['none', []])
    })

    test('one whose data was never put back fails for that reason, and is named', async () => {
      const once = async (): Promise<void> => {
        await insert()
        await add()
      }
      await reset()
      const report = await explore({ ...base(), reset: () => {}, actors: { a: once, b: add } })
      expect([report.verdict, report.notes.at(0)]).toEqual([
        'failing',
        expect.stringMatching(/^a succeeded in no schedule/),
      ])
    })

    test('one that is to be refused may fail, the others may not, and what is wrong is still found', async () => {
      const undone = (): Promise<unknown> =>
        shop.transaction(async (run) => {
          await run('UPDATE item SET n = 9 WHERE id = 1')
          throw new Error('on purpose')
        })
      const invariant = async (): Promise<void> => expect(await numberOf(shop, 1)).toBeLessThan(9)
      const mayFail = ['a'] as const
      const fine = await assertNoRace({ ...base(), actors: { a: undone, b: add }, invariant, mayFail })
      expect([fine.verdict, fine.notes]).toEqual(['none', []])
      const both = explore({ ...base(), actors: { a: undone, b: misspelled }, invariant, mayFail })
      expect(await both).toMatchObject({
        verdict: 'failing',
        notes: [expect.stringMatching(/^b succeeded in no schedule/)],
      })
      const broken = (): void => {
        throw new Error('always')
      }
      const wrong = explore({ ...base(), actors: { a: undone, b: add }, invariant: broken, mayFail })
      expect(await wrong).toMatchObject({ verdict: 'not-a-race' })
    })

    test('who may fail is named by its name', async () => {
      const actors = { a: add, b: add }
      await expect(explore({ ...base(), actors, mayFail: ['c' as 'a'] })).rejects.toThrow(/c.* is no actor/)
      await expect(explore({ ...base(), actors, mayFail: [undefined as never] })).rejects.toThrow(/no actor/)
      await expect(explore({ ...base(), actors, mayFail: 'a' as never })).rejects.toThrow(/list of names/)
    })
  },
  { only: ['postgres', 'mysql', 'mariadb', 'sqlite'] },
)
