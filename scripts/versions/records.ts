import { readdir, readFile, rename, writeFile } from 'node:fs/promises'

import { withHeldName } from '../../test/engines/held-name.ts'

/** Something that was found on one kind of machine. */
export interface Recorded {
  readonly architecture: string
}

/** Findings in a folder. */
export interface Records<R extends Recorded> {
  readonly read: () => Promise<readonly R[]>
  /** Puts new ones in the place of what was known of the same. */
  readonly record: (found: readonly R[]) => Promise<void>
}

/** One file for each architecture: what is found on one machine never replaces what was found on the other. */
export function recordsIn<R extends Recorded>(
  folder: URL,
  merged: (known: readonly R[], found: readonly R[]) => readonly R[],
): Records<R> {
  const read = async (): Promise<readonly R[]> => {
    const files = (await readdir(folder)).filter((name) => name.endsWith('.json')).toSorted()
    const texts = await Promise.all(files.map((name) => readFile(new URL(name, folder), 'utf8')))
    return merged(
      [],
      texts.flatMap((text) => JSON.parse(text) as R[]),
    )
  }
  const write = async (found: readonly R[]): Promise<void> => {
    const all = merged(await read(), found)
    for (const architecture of new Set(found.map((one) => one.architecture))) {
      const own = all.filter((one) => one.architecture === architecture)
      const lines = own.map((one) => JSON.stringify(one))
      const draft = new URL(`${architecture}.draft`, folder)
      await writeFile(draft, `[\n${lines.join(',\n')}\n]\n`)
      await rename(draft, new URL(`${architecture}.json`, folder))
    }
  }
  // somebody may run something else beside
  const record = (found: readonly R[]): Promise<void> =>
    withHeldName(
      folder.href,
      () => write(found),
      () => {},
    )
  return { read, record }
}
