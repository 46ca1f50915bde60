import { recordsIn, type Records } from './records.ts'
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

const records: Records<Result> = recordsIn(new URL('results/', import.meta.url), merged)

export const readResults: () => Promise<readonly Result[]> = records.read

/** Puts new results in the place of what was known of the same target, adapter and architecture. */
export const recordResults: (found: readonly Result[]) => Promise<void> = records.record
