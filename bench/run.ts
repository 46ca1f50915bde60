import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import { messageOf } from '../test/engines/run-command.ts'
import type { Effort } from './effort.ts'
import { cellsOf, isMet } from './figure-text.ts'
import { tableOf } from './figures.ts'
import { goalLine, goalTable, type FoundGoal } from './goals.ts'
import { describeMachine } from './machine.ts'
import { installPeers } from './peers.ts'
import { createProgress } from './progress.ts'
import { readResults, writeResult } from './result.ts'
import type { Scenario, Section } from './scenario.ts'
import { loadScenario, scenarioIds } from './scenario-list.ts'
import { createServers, type Servers } from './servers.ts'

/*
 * Measures Holdfast side by side with what people write and use instead: `npm run bench [-- queue advisory] [--quick]`.
 * Ends with 1 when a goal is not met.
 */

const usage = `usage: npm run bench [-- <scenario ...>] [--quick] [--out <folder>] [--no-fail] [--list]

  --quick    rough ratios of all that has a goal, in about five minutes; writes nothing unless --out says where
  --out      where figures, charts and the page go (bench/results)
  --no-fail  ends with 0 although a goal is not met
  --list     the names of the scenarios`

interface Options {
  readonly ids: readonly string[]
  readonly effort: Effort
  /** Absent when nothing is kept. */
  readonly folder: string | undefined
}

async function main(): Promise<number> {
  const { values: args, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      out: { type: 'string' },
      'no-fail': { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const known = await scenarioIds()
  if (args.help || args.list) {
    console.log(args.help ? usage : known.join('\n'))
    return 0
  }
  const unknown = positionals.filter((id) => !known.includes(id))
  if (unknown.length > 0) throw new Error(`no scenario ${unknown.join(', ')}; there are ${known.join(', ')}`)
  const results = fileURLToPath(new URL('results/', import.meta.url))
  const found = await runAll({
    ids: positionals.length === 0 ? known : positionals,
    effort: args.quick ? 'quick' : 'full',
    folder: args.out ?? (args.quick ? undefined : results),
  })
  const missed = found.filter(({ goal }) => !isMet(goal))
  console.log(`\n${found.length - missed.length} of ${found.length} goals are met`)
  for (const line of goalTable(found)) console.log(`  ${line}`)
  console.log('  ?: the goal is between the quartiles, so that another run may say otherwise')
  return missed.length > 0 && !args['no-fail'] && !args.quick ? 1 : 0
}

async function runAll({ ids, effort, folder }: Options): Promise<readonly FoundGoal[]> {
  const before = folder === undefined ? [] : await readResults(folder)
  const progress = createProgress(ids, new Map(before.map(({ id, tookSeconds }) => [id, tookSeconds * 1000])))
  const servers = createServers(progress.say)
  const endEarly = endOnSignal(servers, progress.end)
  try {
    await installPeers(progress.say)
    const machine = await describeMachine()
    const all: FoundGoal[] = []
    for (const id of ids) {
      const started = performance.now()
      progress.begin(id)
      const scenario = await loadScenario(id)
      const { title, about } = scenario
      const server = (engine: string): ReturnType<Servers['server']> => servers.server(id, engine)
      const show = (section: Section): Section => {
        progress.end()
        if (effort === 'full') print(scenario, section)
        for (const goal of section.goals) console.log(goalLine({ id, goal }))
        return section
      }
      const sections = await scenario.run({ effort, server, say: progress.say, show })
      await servers.end(id)
      all.push(...sections.flatMap(({ goals }) => goals.map((goal) => ({ id, goal }))))
      if (folder === undefined) continue
      const tookSeconds = Math.round(performance.now() - started) / 1000
      const kept = { id, title, about, on: new Date().toISOString().slice(0, 10), tookSeconds }
      await writeResult(folder, { ...kept, machine: { ...machine, engines: servers.versions() }, sections })
    }
    return all
  } finally {
    progress.end()
    endEarly()
    await servers.stop()
  }
}

/** Ends the servers before the process, once. Gives what takes the listeners away. */
function endOnSignal(servers: Servers, clear: () => void): () => void {
  const onSignal = (signal: NodeJS.Signals): void => {
    clear()
    process.stderr.write(`bench: ${signal}, ending the servers\n`)
    const code = signal === 'SIGINT' ? 130 : 143
    const leave = (): never => process.exit(code)
    // what still runs on the servers fails now, and nobody wants to hear of it
    process.on('unhandledRejection', () => {})
    servers.stop().then(leave, leave)
  }
  process.once('SIGINT', onSignal)
  process.once('SIGTERM', onSignal)
  return () => {
    process.off('SIGINT', onSignal)
    process.off('SIGTERM', onSignal)
  }
}

function print({ id }: Scenario, section: Section): void {
  const { title, isMoreBetter, notes = [] } = section
  console.log(`\n${id}: ${title} (${isMoreBetter ? 'more' : 'less'} is better)`)
  for (const line of tableOf(cellsOf(section))) console.log(`  ${line}`)
  for (const note of notes) console.log(`  ${note}`)
}

try {
  process.exitCode = await main()
} catch (error) {
  console.error(messageOf(error))
  process.exitCode = 2
}
