import type { NamedServer } from '../../src/cli/server-name.ts'
import { markdownTable } from '../../src/conformance/reporters/markdown-text.ts'
import { supportMatrix } from '../../src/matrix.ts'
import type { Result } from './results.ts'
import { targets } from './targets.ts'

/**
 * What the matrix rests on, for each of its columns: laws that held on that version, or documentation.
 *
 * Runs on other versions are named where these get the same locks: of the others they say nothing.
 */
export function restsOn(servers: readonly NamedServer[], results: readonly Result[]): string {
  const rows = servers.map((server) => {
    const { dialect, version } = server
    const column = locksOf(server)
    const held = versionsThatHeld(dialect.name, results)
    const run = held.filter((one) => locksOf({ dialect, version: one }) === column)
    const runs = `the laws, run on ${run.join(', ')}`
    if (run.length === 0) return [`${dialect.title} ${version}`, 'documentation only']
    return [
      `${dialect.title} ${version}`,
      run.some((one) => one === version || one.startsWith(`${version}.`))
        ? runs
        : `documentation of ${version}; ${runs}, which ${run.length === 1 ? 'gets' : 'get'} the same locks`,
    ]
  })
  return markdownTable([['column', 'evidence'], ...rows])
}

/** Versions on which no law is broken, in whatever way they were reached. */
function versionsThatHeld(dialect: string, results: readonly Result[]): readonly string[] {
  const ids = targets.filter(({ engine }) => engine === dialect).map(({ id }) => id)
  const own = results.filter(({ target }) => ids.includes(target))
  const failed = own.filter(({ broken }) => broken.length > 0).map(({ version }) => version)
  return [...new Set(own.map(({ version }) => version))].filter((version) => !failed.includes(version))
}

function locksOf(server: NamedServer): string {
  return JSON.stringify(supportMatrix([server]).map(({ support }) => support))
}
