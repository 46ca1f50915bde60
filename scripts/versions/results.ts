import { readdir, readFile, rename, writeFile } from 'node:fs/promises'

import { withHeldName } from '../../test/engines/held-name.ts'
import { architectures, targets } from './targets.ts'

/** What was found on one target, reached in one way, on one kind of machine. */
export interface Result {
  /** Its `id` in the list of targets. */
  readonly target: string
  /** As the server itself says it. */
  readonly version: string
  /** The npm package through which it was reached, by the name that it has here. */
  readonly adapter: string
  /** The same for people, with its version: `pg 8.23.1`. */
  readonly driver: string
  readonly architecture: string
  /** The version of Node. */
  readonly node: string
  /** The day, as in 2026-11-16. */
  readonly on: string
  readonly held: number
  /** The ids of laws. */
  readonly refused: readonly string[]
  readonly notPromised: readonly string[]
  readonly broken: readonly string[]
}

/** One file for each architecture: what is found on one machine never replaces what was found on the other. */
const folder = new URL('results/', import.meta.url)

export async function readResults(): Promise<readonly Result[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.json')).toSorted()
  const texts = await Promise.all(files.map((name) => readFile(new URL(name, folder), 'utf8')))
  return inOrder(texts.flatMap((text) => JSON.parse(text) as Result[]))
}

/** Puts new results in the place of what was known of the same target, adapter and architecture. */
export function recordResults(found: readonly Result[]): Promise<void> {
  // somebody may run other versions beside
  return withHeldName(
    folder.href,
    () => write(found),
    () => {},
  )
}

async function write(found: readonly Result[]): Promise<void> {
  const all = merged(await readResults(), found)
  for (const architecture of new Set(found.map((result) => result.architecture))) {
    const own = all.filter((result) => result.architecture === architecture)
    const lines = own.map((result) => JSON.stringify(result))
    const draft = new URL(`${architecture}.draft`, folder)
    await writeFile(draft, `[\n${lines.join(',\n')}\n]\n`)
    await rename(draft, new URL(`${architecture}.json`, folder))
  }
}

/** What is known after a run that found these. */
export function merged(known: readonly Result[], found: readonly Result[]): readonly Result[] {
  return inOrder([...known.filter((old) => !found.some((result) => isSame(old, result))), ...found])
}

function isSame(one: Result, other: Result): boolean {
  return (
    one.target === other.target && one.adapter === other.adapter && one.architecture === other.architecture
  )
}

/** By the lists of targets and architectures, drivers before what stands on them: the order of runs leaves no trace. */
function inOrder(results: readonly Result[]): readonly Result[] {
  const key = ({ target, architecture, adapter }: Result): string => {
    const places = [targets.findIndex(({ id }) => id === target), architectures.indexOf(architecture)]
    const words = [...places.map((place) => String(place).padStart(3)), architecture]
    return [...words, adapter.startsWith('kysely') ? 1 : 0, adapter].join(' ')
  }
  return results.toSorted((a, b) => key(a).localeCompare(key(b), 'en'))
}
