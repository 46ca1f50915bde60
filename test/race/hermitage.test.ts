import { afterAll, beforeAll, expect, test } from 'vitest'

import { explore } from '../../src/entries/race.ts'
import { describeEngines } from '../engines/use.ts'
import { anomalies, gaveOf, type Anomaly } from './anomalies.ts'
import { patient } from './six.ts'
import { fill, mysqlShop, pgShop, type Shop } from './stage.ts'

/** Each of them needs one switch. More are tried with HOLDFAST_RACE_SWITCHES, which takes minutes. */
const switches = Number(process.env.HOLDFAST_RACE_SWITCHES ?? 1)

async function happens(shop: Shop, anomaly: Anomaly, level: string): Promise<boolean> {
  const { actors, mayFail = [], happened } = anomaly
  const works = Object.entries(actors).map(
    ([name, work]) => [name, () => shop.transaction(work, level)] as const,
  )
  const { verdict, failure, isComplete, completeSwitches } = await explore({
    db: shop.db,
    reset: () => fill(shop, { 1: 10, 2: 20 }),
    actors: Object.fromEntries(works),
    mayFail,
    invariant: async (results) => {
      const rows = await shop.run('SELECT id, n FROM item')
      const after = new Map(rows.map(({ id, n }) => [Number(id), Number(n)]))
      if (happened(gaveOf(results), after)) throw new Error(anomaly.name)
    },
    switches,
    // a transaction that is refused is an anomaly prevented
    conflicts: 'allow',
    ...patient,
  })
  if (verdict === 'race') return true
  const isEnough = isComplete || completeSwitches >= switches
  expect([anomaly.name, verdict, failure?.reason, isEnough]).toEqual([anomaly.name, 'none', undefined, true])
  return false
}

const skews = ['PMP', 'PMP, written', 'P4', 'G-single', 'G-single, written', 'G2-item', 'G2']

/** The table of https://github.com/ept/hermitage: what is not prevented. */
const table: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  postgres: {
    'read committed': skews,
    'repeatable read': ['G2-item', 'G2'],
    serializable: [],
  },
  mysql: {
    'read uncommitted': ['G1a', 'G1b', 'G1c', 'OTV', ...skews],
    'read committed': skews,
    // R/O there: prevented as long as nothing is written
    'repeatable read': ['PMP, written', 'P4', 'G-single, written', 'G2-item', 'G2'],
    serializable: [],
  },
}

describeEngines(
  (context) => {
    let shop: Shop
    beforeAll(async () => {
      const { url } = context.engine.server
      shop = await (context.name === 'mysql' ? mysqlShop(url) : pgShop(url))
    })
    afterAll(() => shop.close())

    test.each(Object.entries(table[context.name] ?? {}))(
      'at %s the anomalies happen that Hermitage says, and no other',
      async (level, expected) => {
        const seen: string[] = []
        for (const anomaly of anomalies) if (await happens(shop, anomaly, level)) seen.push(anomaly.name)
        expect(seen).toEqual(expected)
      },
      600_000,
    )
  },
  { only: ['postgres', 'mysql'] },
)
