import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'

import { explore, type RaceProgress } from '../../src/entries/race.ts'
import { describeEngines } from '../engines/use.ts'
import { patient } from './six.ts'
import { fill, mysqlShop, pgShop } from './stage.ts'

/** Two that never rest, so that answers come late. */
function loaded(): () => Promise<void> {
  const workers = [1, 2].map(() => new Worker('for (;;);', { eval: true }))
  return async () => void (await Promise.all(workers.map((worker) => worker.terminate())))
}

describeEngines(
  (context) => {
    test('the same seed gives the same schedules, waits and outcomes 20 times in a row on a loaded machine', async () => {
      const { url } = context.engine.server
      const shop = await (context.name === 'postgres' ? pgShop(url) : mysqlShop(url))
      const rest = loaded()
      try {
        const move = (first: number, second: number) => (): Promise<unknown> =>
          shop.transaction(async (run) => {
            await run(`SELECT n FROM item WHERE id = ${first}`)
            await run(`UPDATE item SET n = n + 1 WHERE id = ${first}`)
            await run(`UPDATE item SET n = n + 1 WHERE id = ${second}`)
          })
        const sightings = new Set<string>()
        let last = 0
        for (let round = 1; round <= 20; round += 1) {
          const seen: string[] = []
          const onProgress = ({ last: { name, outcome, trace } }: RaceProgress): number =>
            seen.push([name, outcome, ...trace.map((event) => event.outcome)].join(' '))
          await explore({
            db: shop.db,
            reset: () => fill(shop, { 1: 0, 2: 0 }),
            actors: { a: move(1, 2), b: move(1, 2), c: move(2, 2) },
            schedules: 12,
            seed: 7,
            onProgress,
            ...patient,
          })
          sightings.add(seen.join('\n'))
          last = seen.length
        }
        expect([sightings.size, last]).toEqual([1, 12])
        expect([...sightings][0]).toContain('waits')
      } finally {
        await rest()
        await shop.close()
      }
    }, 600_000)
  },
  { only: ['postgres', 'mysql', 'mariadb'] },
)
