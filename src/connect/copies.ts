import { readdir, readFile, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** A package as it lies in a folder. Two of one name are two copies. */
export interface Copy {
  readonly name: string
  readonly version: string
  readonly folder: string
}

/** Every copy of these packages that an application in the folder could load, by itself or through another package. */
export async function copiesIn(folder: string, names: readonly string[]): Promise<readonly Copy[]> {
  const found = new Map<string, Copy>()
  for (const place of upwards(folder)) await lookIn(join(place, 'node_modules'), names, found)
  return [...found.values()].toSorted((one, other) => (one.folder < other.folder ? -1 : 1))
}

/** Node looks in these for a package. */
function upwards(folder: string): readonly string[] {
  const above = dirname(folder)
  return above === folder ? [folder] : [folder, ...upwards(above)]
}

async function lookIn(modules: string, names: readonly string[], found: Map<string, Copy>): Promise<void> {
  for (const name of names) await note(join(modules, name), name, found)
  for (const own of await packagesIn(modules)) await lookIn(join(own, 'node_modules'), names, found)
}

/** Several links may lead to one copy. */
async function note(folder: string, name: string, found: Map<string, Copy>): Promise<void> {
  const real = await realpath(folder).catch(() => undefined)
  if (real === undefined || found.has(real)) return
  const version = await versionIn(real)
  if (version !== undefined) found.set(real, { name, version, folder: real })
}

/** Undefined where there is no package, or a broken one. */
async function versionIn(folder: string): Promise<string | undefined> {
  try {
    const text = await readFile(join(folder, 'package.json'), 'utf8')
    return (JSON.parse(text) as { readonly version?: string }).version
  } catch {
    return undefined
  }
}

/** Folders only: what a link leads to is looked at where it lies. pnpm has all of them in a folder of its own. */
async function packagesIn(modules: string): Promise<readonly string[]> {
  const folders = await foldersIn(modules)
  const inner = folders.filter((name) => name.startsWith('@') || name === '.pnpm')
  const scoped = await Promise.all(
    inner.map(async (name) => (await foldersIn(join(modules, name))).map((own) => join(name, own))),
  )
  return [...folders.filter((name) => !/^[.@]/.test(name)), ...scoped.flat()].map((name) =>
    join(modules, name),
  )
}

async function foldersIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}
