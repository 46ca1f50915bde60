import { parseArgs } from 'node:util'

import { readWords } from '../../scripts/command-line.ts'
import { loadEngine } from '../engines/engine-list.ts'
import { startEngines, stopEngines } from '../engines/start-engines.ts'
import { describeFinding, fuzz } from './fuzz.ts'
import { ways } from './ways.ts'
import type { Way } from './ground.ts'

/*
 * Tries random bodies for as long as it is told, on each engine and through each way into the library:
 *
 *   npm run fuzz -- --minutes 30 --seed 1 --engine postgres --way kysely
 *
 * `--as-found` prints a finding as it was found, and does not look for the shortest.
 */
const usage = 'npm run fuzz -- [--minutes M] [--seed S] [--engine E] [--way W] [--as-found]'

const { minutes, seed, engine, title, asFound } = readWords(() => {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      minutes: { type: 'string', default: '1' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      engine: { type: 'string' },
      way: { type: 'string' },
      'as-found': { type: 'boolean', default: false },
    },
  })
  const titles = ways.map((way) => way.title)
  if (values.help) {
    console.log(`${usage}\n\nThe ways, which may be cut short: ${titles.join('; ')}`)
    process.exit()
  }
  const [forMinutes, from] = [Number(values.minutes), Number(values.seed)]
  if (!(forMinutes > 0) || !Number.isSafeInteger(from)) throw new Error('--minutes and --seed are numbers')
  const begins = values.way ?? ''
  if (!titles.some((one) => one.startsWith(begins)))
    throw new Error(`--way ${begins} is none of: ${titles.join('; ')}`)
  return {
    minutes: forMinutes,
    seed: from,
    engine: values.engine,
    title: begins,
    asFound: values['as-found'],
  }
})
if (engine !== undefined) process.env.HOLDFAST_ENGINES = engine

/** By its whole title, or all whose titles begin so. */
function isAskedFor(way: Way): boolean {
  return ways.some((one) => one.title === title) ? way.title === title : way.title.startsWith(title)
}

const starts = await startEngines()
let findings = 0
try {
  for (const { name, started } of starts) {
    if (started === undefined) continue
    for (const way of ways) {
      if (!way.engines.includes(name) || !isAskedFor(way)) continue
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
        isShrunk: !asFound,
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
