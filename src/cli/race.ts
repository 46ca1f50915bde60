import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

import { visibleJson } from '../conformance/reporters/visible.ts'
import { LockUsageError } from '../core/errors.ts'
import { explore } from '../race/explore.ts'
import { raceHtml } from '../race/html.ts'
import type { ExploreOptions, RaceProgress } from '../race/options.ts'
import type { RaceReport } from '../race/report.ts'
import { describeRace } from '../race/text.ts'
import { CliUsageError, exitCodes, type Call, type Command, type Outcome, type Terminal } from './command.ts'

/** Explores what a file of the user's describes. */
export const race: Command = {
  name: 'race',
  parameters: '<file>',
  summary:
    'Run the functions of a file in every order of their statements, and show the first order that breaks',
  options: {
    schedule: { type: 'string', value: '<name>', summary: 'Run this one order alone, as in "a b b a"' },
    schedules: { type: 'string', value: '<count>', summary: 'Run no more orders than this (500)' },
    switches: { type: 'string', value: '<count>', summary: 'Run only orders with at most so many switches' },
    seed: {
      type: 'string',
      value: '<number>',
      summary: 'Draw the orders beyond a complete search with this seed (1)',
    },
    json: { type: 'boolean', summary: 'Print the report as JSON' },
    html: { type: 'string', value: '<file>', summary: 'Write the report as a page, too' },
  },
  run: runRace,
}

async function runRace(call: Call): Promise<Outcome> {
  const [file, ...rest] = call.positionals
  if (file === undefined) throw new CliUsageError('race: name a file that exports the options of explore')
  if (rest.length > 0) throw new CliUsageError(`race: one file at a time, and no ${rest.join(' ')}`)
  const wanted = chosen(call)
  const { options, close } = await load(file)
  const { terminal } = call
  try {
    const report = await explore({
      ...options,
      ...wanted,
      signal: terminal.signal,
      onProgress: progressOn(terminal),
    })
    if (terminal.isInteractive) terminal.progress('\r\u001b[K')
    const text = call.flag('json') ? visibleJson(report) : describeRace(report, terminal.columns)
    terminal.write(`${text}\n`)
    return await withPage(call.text('html'), report)
  } catch (error) {
    if (error instanceof LockUsageError) throw new CliUsageError(`race: ${file}: ${error.message}`)
    // a reset that fails, or a server that is not there, is not a race: it must not end the process as one does
    const words = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return { text: `race: ${file} could not be explored: ${words}\n`, exitCode: exitCodes.unreachable }
  } finally {
    await close()
  }
}

async function withPage(file: string | undefined, report: RaceReport): Promise<Outcome> {
  try {
    if (file !== undefined) await writeFile(file, raceHtml(report))
    return { text: '', exitCode: exitCodeOf(report) }
  } catch (error) {
    const text = `race: cannot write the page ${file}: ${(error as Error).message}\n`
    return { text, exitCode: exitCodes.unwritten }
  }
}

/** What the command line says goes before what the file says. */
function chosen(call: Call): Partial<ExploreOptions> {
  const schedule = call.text('schedule')
  const schedules = call.number('schedules')
  const switches = call.number('switches', 0)
  const seed = call.number('seed', 0)
  return {
    ...(schedule !== undefined && { schedule }),
    ...(schedules !== undefined && { schedules }),
    ...(switches !== undefined && { switches }),
    ...(seed !== undefined && { seed }),
  }
}

interface Loaded {
  readonly options: ExploreOptions
  readonly close: () => Promise<void>
}

/** The file exports the options by default, or a function that gives them, and `close` to end its pool. */
async function load(file: string): Promise<Loaded> {
  const { href } = pathToFileURL(resolve(file))
  let module: { readonly default?: unknown; readonly close?: unknown }
  try {
    module = (await import(href)) as typeof module
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error)
    throw new CliUsageError(`race: cannot load ${file}: ${words}${needsLoader(error) ? howToLoad(file) : ''}`)
  }
  const given: unknown =
    typeof module.default === 'function' ? await (module.default as () => unknown)() : module.default
  if (typeof given !== 'object' || given === null)
    throw new CliUsageError(
      `race: ${file} has no default export with the options of explore: write export default { db, actors, ... }`,
    )
  const { close } = module
  return {
    options: given as ExploreOptions,
    close: async () => void (typeof close === 'function' ? await (close as () => unknown)() : undefined),
  }
}

function needsLoader(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_UNKNOWN_FILE_EXTENSION'
}

function howToLoad(file: string): string {
  return `. For TypeScript run: node --import tsx node_modules/.bin/holdfast race ${file}`
}

function progressOn({ isInteractive, progress }: Terminal): (at: RaceProgress) => void {
  return ({ schedules, known, last }) => {
    if (isInteractive) progress(`\r\u001b[K${schedules} of at least ${known}: ${last.name}`)
  }
}

function exitCodeOf({ verdict }: RaceReport): number {
  if (verdict === 'interrupted') return exitCodes.interrupted
  return verdict === 'none' ? exitCodes.ok : exitCodes.failed
}
