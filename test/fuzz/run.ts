import { parseArgs } from 'node:util'

import { loadEngine } from '../engines/engine-list.ts'
import { startEngines, stopEngines } from '../engines/start-engines.ts'
import { describeFinding, fuzz } from './fuzz.ts'
import { ways } from './ways.ts'

/*
 * Tries random bodies for as long as it is told, on each engine and through each way into the library:
 *
 *   npm run fuzz -- --minutes 30 --seed 1 --engine postgres --way kysely
 *
 * `--as-found` prints a finding as it was found, and does not look for the shortest.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    engine: { type: 'string' },
    way: { type: 'string' },
    'as-found': { type: 'boolean', default: false },
  },
})
const [minutes, seed] = [Number(values.minutes), Number(values.seed)]
if (!(minutes > 0) || !Number.isSafeInteger(seed)) throw new Error('--minutes and --seed are numbers')
if (values.engine !== undefined) process.env.HOLDFAST_ENGINES = values.engine

/** By its whole title, or all whose titles begin so. */
function isAskedFor(title: string): boolean {
  const { way } = values
  if (way === undefined) return true
  return ways.some((one) => one.title === way) ? title === way : title.startsWith(way)
}

if (!ways.some(({ title }) => isAskedFor(title)))
  throw new Error(`--way ${values.way} is none of: ${ways.map(({ title }) => title).join('; ')}`)

const starts = await startEngines()
let findings = 0
try {
  for (const { name, started } of starts) {
    if (started === undefined) continue
    for (const way of ways) {
      if (!way.engines.includes(name) || !isAskedFor(way.title)) continue
      const kind = await loadEngine(name)
      const began = performance.now()
      const until = began + minutes * 60_000
      let bodies = 0
      const goOn = (count: number): boolean => {
        bodies = count
        return performance.now() < until
      }
      const finding = await fuzz(way, () => kind.connect(started.server), {
        seed,
        goOn,
        isShrunk: !values['as-found'],
      })
      const seconds = Math.round((performance.now() - began) / 1000)
      console.log(
        `${name}, ${way.title}, seed ${seed}: ${bodies} bodies, ${seconds} s, ${finding === undefined ? 'nothing found' : 'FOUND'}`,
      )
      if (finding !== undefined) {
        findings += 1
        console.log(`${describeFinding(finding)}\n`)
      }
    }
  }
} finally {
  await stopEngines(starts)
}
process.exit(findings > 0 ? 1 : 0)
