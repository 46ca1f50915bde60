import { access, constants, readdir, realpath } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** The real paths of all programs of this name on the PATH and in the given folders; the PATH's come first. */
export async function findPrograms(
  name: string,
  folders: readonly string[] = [],
): Promise<readonly string[]> {
  const places = [...(process.env.PATH ?? '').split(delimiter), ...folders].filter((folder) => folder !== '')
  const found = await Promise.all(places.map((folder) => runnable(join(folder, name))))
  return [...new Set(found.filter((path) => path !== undefined))]
}

/** The sub-folders of a folder that holds one per version, the newest first; none when there is no such folder. */
export async function versionFolders(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => [])
  return names
    .toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }))
    .map((name) => join(folder, name))
}

/** The real path of a program that we may run, or `undefined`. */
export async function runnable(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.X_OK)
    return await realpath(path)
  } catch {
    return undefined
  }
}
