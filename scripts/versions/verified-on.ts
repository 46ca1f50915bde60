import { markdownTable } from '../../src/conformance/reporters/markdown-text.ts'
import { findDialect } from '../../src/registry.ts'
import type { Result } from './results.ts'
import { architectures, cannotBeHad, targets, type Target } from './targets.ts'

const head = 'database, version, machine, through, date, held, refused, not promised, broken'.split(', ')

/** Where the laws were run, and what they found; below it, where they were not. */
export function verifiedOn(results: readonly Result[]): string {
  const rows = new Map<string, Result[]>()
  for (const result of results) {
    // ways to one server that found the same stand in one row
    const { adapter: _, driver: _driver, ...same } = result
    const key = JSON.stringify(same)
    rows.set(key, [...(rows.get(key) ?? []), result])
  }
  const table = rows.size === 0 ? [] : [markdownTable([head, ...[...rows.values()].map(rowOf)])]
  return [...table, ...architectures.flatMap((name) => notRun(results, name))].join('\n\n')
}

/** At least one, all the same but for the driver. */
function rowOf(same: readonly Result[]): readonly string[] {
  return same.slice(0, 1).flatMap((result) => {
    const { target, version, architecture, on, held, refused, notPromised, broken } = result
    const engine = targets.find(({ id }) => id === target)?.engine
    const title = engine === undefined ? target : findDialect(engine).title
    const counts = [held, refused.length, notPromised.length].map(String)
    const failed = broken.length === 0 ? '0' : `**${broken.length}**: ${broken.join(', ')}`
    const drivers = same.map(({ driver }) => driver).join(', ')
    return [title, version, architecture, drivers, on, ...counts, failed]
  })
}

function notRun(results: readonly Result[], architecture: string): readonly string[] {
  const known = results.filter((result) => result.architecture === architecture)
  const missing = targets.filter(({ id }) => !known.some(({ target }) => target === id))
  const impossible = missing.flatMap((target) => cannotBeHad(target, architecture) ?? [])
  const open = missing.filter((target) => cannotBeHad(target, architecture) === undefined)
  const words =
    known.length === 0
      ? `Nothing has been run on ${architecture} yet.`
      : `Not run yet on ${architecture}: ${open.map(nameOf).join(', ')}.`
  return [
    ...(open.length === 0 ? [] : [words]),
    ...(impossible.length === 0 ? [] : [`Not available: ${impossible.join('; ')}.`]),
  ]
}

function nameOf({ engine, version = '' }: Target): string {
  return `${findDialect(engine).title} ${version}`.trim()
}
