import { parseArgs } from 'node:util'

import { loadEngine } from '../test/engines/engine-list.ts'
import type { Server } from '../test/engines/engine.ts'
import { messageOf } from '../test/engines/run-command.ts'
import { describeRefusals } from '../test/engines/sources.ts'
import { startEngines, stopEngines } from '../test/engines/start-engines.ts'
import { shortCount, tableOf } from './figures.ts'
import { measure, type Measured, type Rounds } from './measure.ts'
import { openQueueStage, type QueueStage } from './queue-stage.ts'

/*
 * Shows what a claim costs in a queue that has many jobs behind it: `tsx bench/claims.ts --sizes 1000,100000,1000000
 * --engines postgres,sqlite`. Every size has the index that `adviseIndexes` says; at last the largest loses it.
 */

const { values: args } = parseArgs({
  options: {
    sizes: { type: 'string', default: '1000,100000,1000000' },
    engines: { type: 'string', default: 'postgres,mysql,mariadb,sqlite,mongodb,duckdb' },
    ready: { type: 'string', default: '2000' },
  },
})

const ready = Number(args.ready)
const sizes = args.sizes.split(',').map(Number)
const rounds: readonly Rounds[] = [
  { limit: 1, count: 300, warmUp: 10 },
  { limit: 10, count: 80, warmUp: 10 },
]
/** A claim that reads the whole table takes long enough to be seen in a few. */
const fewRounds: readonly Rounds[] = rounds.map(({ limit }) => ({ limit, count: 4, warmUp: 1 }))

const head = ['engine', 'done', 'index', 'claim', 'median', 'p95', 'ratio', 'reads', 'plan']

function say(message: string): void {
  process.stderr.write(`bench: ${message}\n`)
}

async function main(): Promise<void> {
  if (![ready, ...sizes].every((size) => Number.isSafeInteger(size) && size > 0))
    throw new Error('--sizes and --ready are whole numbers, as in --sizes 1000,100000')
  process.env.HOLDFAST_ENGINES = args.engines
  say(`starting ${args.engines}`)
  const starts = await startEngines()
  try {
    for (const { name, started, refusals } of starts) {
      if (!args.engines.split(',').includes(name)) continue
      if (started === undefined) say(`${name} is not here: ${describeRefusals(refusals)}`)
      else for (const line of tableOf([head, ...(await runEngine(name, started.server))])) console.log(line)
    }
  } finally {
    await stopEngines(starts)
  }
}

async function runEngine(name: string, server: Server): Promise<readonly (readonly string[])[]> {
  const kind = await loadEngine(name)
  const stages: QueueStage[] = []
  try {
    let isIndexed = false
    for (const done of sizes) {
      const before = performance.now()
      const stage = await openQueueStage(kind, server, { done, ready })
      stages.push(stage)
      isIndexed = (await stage.addIndex()).length > 0
      say(`${name}: ${shortCount(done)} done, ${ready} ready (${Math.round(performance.now() - before)} ms)`)
    }
    const measured = await measure(stages, rounds)
    const [base] = measured
    const lines = measured.flatMap((one) => linesOf(one, { base, index: isIndexed ? 'yes' : 'none' }))
    const largest = stages.at(-1)
    if (largest === undefined || !isIndexed) return lines
    await largest.dropIndex()
    say(`${name}: the same without the index`)
    const [without] = await measure([largest], fewRounds)
    return [...lines, ...(without === undefined ? [] : linesOf(without, { base, index: 'dropped' }))]
  } finally {
    for (const stage of stages) await stage.close()
  }
}

function linesOf(
  { stage, costs }: Measured,
  { base, index }: { readonly base: Measured | undefined; readonly index: string },
): readonly (readonly string[])[] {
  return costs.map(({ limit, time, reads }) => {
    const first = base?.costs.find((cost) => cost.limit === limit)
    return [
      stage.name,
      shortCount(stage.size.done),
      index,
      String(limit),
      `${time.medianMs.toFixed(2)} ms`,
      `${time.p95Ms.toFixed(2)} ms`,
      (time.medianMs / Number(first?.time.medianMs)).toFixed(2),
      reads === undefined ? '-' : `${reads.count} ${reads.unit}`,
      reads?.plan ?? '-',
    ]
  })
}

main().catch((error: unknown) => {
  console.error(messageOf(error))
  process.exitCode = 1
})
