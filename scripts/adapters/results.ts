import { recordsIn, type Records } from '../versions/records.ts'

/** What the laws and the calls said through one adapter, on one database. */
export interface AdapterResult {
  /** The npm package. */
  readonly adapter: string
  /** The same with its version, for people: `drizzle-orm 0.45.4`. */
  readonly driver: string
  readonly engine: string
  /** As the server itself says it. */
  readonly version: string
  readonly architecture: string
  /** The version of Node. */
  readonly node: string
  /** The day, as in 2026-11-16. */
  readonly on: string
  /** The ids of laws and calls. */
  readonly held: readonly string[]
  readonly refused: readonly string[]
  readonly notPromised: readonly string[]
  readonly broken: readonly string[]
}

const keyOf = ({ engine, adapter, architecture }: AdapterResult): string =>
  [engine, adapter, architecture].join(' ')

const records: Records<AdapterResult> = recordsIn(new URL('results/', import.meta.url), (known, found) => {
  const newer = new Set(found.map(keyOf))
  return [...known.filter((old) => !newer.has(keyOf(old))), ...found].toSorted((a, b) =>
    keyOf(a).localeCompare(keyOf(b), 'en'),
  )
})

export const readAdapterResults: () => Promise<readonly AdapterResult[]> = records.read

/** Puts new results in the place of what was known of the same adapter, engine and architecture. */
export const recordAdapterResults: (found: readonly AdapterResult[]) => Promise<void> = records.record
