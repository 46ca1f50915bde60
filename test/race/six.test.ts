import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { explore, type RaceResults } from '../../src/entries/race.ts'
import { describeEngines, until } from '../engines/use.ts'
import { raceOn, races, snapshotFirst, type Six } from './six.ts'
import {
  fill,
  kyselyOnPg,
  kyselyOnSqlite,
  mysqlShop,
  numberOf,
  pgShop,
  type LockedShop,
  type Shop,
} from './stage.ts'

const found = async (shop: Shop, race: Six): Promise<readonly unknown[]> => {
  const { verdict, failure, schedules } = await explore(raceOn(shop, race, 'bare'))
  return [verdict, failure?.switches, schedules <= 50]
}

interface Specs {
  readonly also?: readonly Six[]
  /** What the server still holds. */
  readonly leftovers?: () => Promise<readonly string[]>
  readonly bare?: (race: Six) => Six['bare']
  readonly locked?: (race: Six) => Six['bare']
}

/** What has to be the same of both is how the actors end: one that is always refused breaks nothing. */
const succeeds = ({ a, b }: RaceResults): boolean => a?.status === 'fulfilled' && b?.status === 'fulfilled'

function specs(
  title: string,
  open: () => Promise<Shop>,
  { also = [], leftovers, bare = (race) => race.bare, locked = (race) => race.locked }: Specs = {},
): void {
  describe(`through ${title}`, () => {
    let shop: Shop
    beforeAll(async () => {
      shop = await open()
    })
    afterAll(() => shop.close())

    test.each([...races, ...also])('$title without the lock', async (race) => {
      expect(await found(shop, { ...race, bare: bare(race) })).toEqual(['race', 1, true])
    })

    test.each([...races, ...also])('and not with it, in every order: $title', async (race) => {
      const options = raceOn(shop, { ...race, locked: locked(race) }, 'locked')
      const invariant: typeof options.invariant = (results) => {
        if (!succeeds(results)) throw new Error('somebody was refused', { cause: results })
        return options.invariant?.(results)
      }
      const report = await explore({ ...options, invariant })
      expect([report.failure?.reason, report.verdict, report.isComplete]).toEqual([undefined, 'none', true])
      expect(report.schedules).toBeGreaterThanOrEqual(2)
    })

    test.runIf(leftovers !== undefined)('and nothing stays behind of an actor that never ends', async () => {
      const never = (): Promise<unknown> =>
        shop.transaction(async (run) => {
          await run('UPDATE item SET n = 7 WHERE id = 1')
          await new Promise(() => {})
        })
      const b = (): Promise<unknown> => shop.transaction((run) => run('UPDATE item SET n = 8 WHERE id = 1'))
      const reset = (): Promise<void> => fill(shop, { 1: 1 })
      const report = await explore({ db: shop.db, reset, actors: { a: never, b }, hangMs: 1000 })
      expect([report.verdict, report.failure?.reason]).toEqual([
        'hang',
        expect.stringContaining('b waits for a with UPDATE item SET n = 8'),
      ])
      await until(async () => (await leftovers?.())?.length === 0, 'a server that holds nothing')
      expect(await numberOf(shop, 1)).toBe(1)
    })
  })
}

describeEngines(
  (context) => {
    const { name } = context
    const url = (): string => context.engine.server.url
    const leftovers = (): Promise<readonly string[]> => context.engine.leftovers()
    if (name === 'postgres') {
      specs('pg', () => pgShop(url()), { also: [snapshotFirst], leftovers })
      specs('kysely', () => kyselyOnPg(url()), {
        locked: (race) => (shop, me) => race.locked({ ...shop, withLock: inOrder(shop) }, me),
      })
    } else if (name === 'sqlite') {
      // a transaction of Kysely's has the one connection for itself
      specs('kysely', kyselyOnSqlite, {
        locked: (race) => (shop, me) => shop.transaction((run) => race.bare({ ...shop, run }, me)),
      })
    } else specs('mysql2', () => mysqlShop(url()), { leftovers })
    const ours = name === 'postgres' ? pgShop : mysqlShop
    if (name !== 'sqlite')
      specs('transactions of ours', async () => inOurs(await ours(url())), { bare: inTransaction, leftovers })
  },
  { only: ['postgres', 'mysql', 'mariadb', 'sqlite'] },
)

function inOurs(shop: LockedShop): Shop {
  return { ...shop, transaction: shop.ours }
}

function inTransaction({ bare }: Six): Six['bare'] {
  return (shop, me) => shop.transaction((run) => bare({ ...shop, run }, me))
}

/** A lock of PostgreSQL's own, in a transaction of Kysely's. */
function inOrder({ transaction }: Shop): Shop['withLock'] {
  return (work) =>
    transaction(async (run) => {
      await run('SELECT pg_advisory_xact_lock(1)')
      return work(run)
    })
}
