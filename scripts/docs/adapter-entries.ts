import { entryPoints, exportsOf } from '../../test/shape/public-names.ts'
import { readSource } from '../../test/shape/source.ts'

/** A way into the library that makes locks: `holdfast/pg`. */
export interface AdapterEntry {
  /** Behind the slash, and the adapter's own name. */
  readonly name: string
  readonly file: string
}

/** The entries of package.json that have a `createLocks`. */
export async function adapterEntries(): Promise<readonly AdapterEntry[]> {
  const found: AdapterEntry[] = []
  for (const [entry, file] of await entryPoints()) {
    const names = exportsOf(await readSource(file)).map(({ name }) => name)
    if (names.includes('createLocks')) found.push({ name: entry.replace(/^[^/]*\//, ''), file })
  }
  return found
}
