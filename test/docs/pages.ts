import { describe, inject, test } from 'vitest'

import { cli } from '../cli/terminal.ts'
import { isFor, openDatabase } from './database.ts'
import { placeOf, readPages } from './page.ts'
import { planOf, type Plan, type Shell } from './plan.ts'
import { failureText, pageError } from './report.ts'
import { runProgram } from './run.ts'
import { commandsIn } from './shell.ts'
import { titleOf, type EngineName } from './words.ts'

/** One test. */
export interface Case {
  readonly title: string
  readonly run: () => Promise<void>
}

/** The engines of a list that are here; for each of the others there is a skipped test that says why it is not. */
export function enginesHere(names: readonly EngineName[]): readonly EngineName[] {
  const reports = new Map(inject('engines').map((report) => [report.name, report]))
  return names.filter((name) => {
    const report = reports.get(name)
    if (report?.server === undefined) test.skip(`${name}: not run: ${report?.reason}`, () => {})
    return report?.server !== undefined
  })
}

/** Tests each page that has something to test. */
export async function describePages(casesOf: (plan: Plan) => readonly Case[]): Promise<void> {
  for (const page of await readPages()) {
    const cases = casesOf(planOf(page))
    if (cases.length === 0) continue
    describe(page.name, () => {
      for (const { title, run } of cases) test(title, { timeout: 300_000 }, run)
    })
  }
}

/** No block is left over, and what needs no database runs once. */
export function casesOfPage({ problems, programs, shells }: Plan): readonly Case[] {
  return [
    {
      title: 'has no block that nothing runs or checks, without a reason beside it',
      run: async () => {
        if (problems.length > 0) throw pageError(problems)
      },
    },
    ...programs
      .filter(({ targets, fence }) => targets.length === 0 && fence.reason === undefined)
      .map((program) => ({ title: `${placeOf(program.fence)} by itself`, run: () => runProgram(program) })),
    ...shells
      .filter(({ prints }) => prints !== undefined)
      .map((shell) => ({ title: `${placeOf(shell.fence)} in a shell`, run: () => runShell(shell) })),
  ]
}

/** What runs on one of these engines. */
export function casesOnEngines({ programs, setUps }: Plan, engines: readonly EngineName[]): readonly Case[] {
  const run = programs.filter(({ fence }) => fence.reason === undefined)
  return [
    ...run.flatMap((program) =>
      program.targets
        .filter(({ engine }) => engines.includes(engine))
        .map((target) => ({
          title: `${placeOf(program.fence)} on ${titleOf(target)}`,
          run: () => runProgram(program, target),
        })),
    ),
    ...setUps.flatMap((fence, index) =>
      engines
        .filter((engine) => isFor(fence, engine))
        .map((engine) => ({
          title: `${placeOf(fence)} sets up ${engine}`,
          run: async () => (await openDatabase(engine, setUps.slice(0, index + 1))).close(),
        })),
    ),
  ]
}

/** Commands of ours that speak to no database, in this process. */
async function runShell({ fence, prints }: Shell): Promise<void> {
  let received = ''
  for (const [first, ...rest] of commandsIn(fence.text)) {
    received += (await cli(first === 'npx' ? rest.slice(1) : rest)).output
  }
  if (prints === undefined || received === prints.text) return
  const texts = { expected: `\n${prints.text}`, received: `\n${received}` }
  throw pageError([failureText(prints, { line: 0, what: 'the command prints something else', ...texts })])
}
