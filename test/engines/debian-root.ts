import { readlink, rename, rm, writeFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'

import { architectureOf, type Architecture } from './architecture.ts'
import { cacheFolder, exists, once, openCacheFolder, type Check } from './cache-folder.ts'
import { downloadPackages, type DebianPackages } from './debian-apt.ts'
import { progress } from './progress.ts'
import { runCommand } from './run-command.ts'

/** A private tree of Debian packages whose programs run with the tree's own C library. */
export interface DebianRoot {
  readonly path: string
  /** The words that run one of its programs, named by its path inside the tree. Arguments follow them. */
  readonly program: (path: string) => readonly [string, ...string[]]
}

export interface DebianRootOptions extends DebianPackages {
  /** The name of its folder in the cache. */
  readonly name: string
  /** Paths inside the tree that the server does not need. */
  readonly prune?: readonly string[]
  /** Programs that other programs of the tree start by themselves: these too must come up with the tree's loader. */
  readonly startedByOthers?: readonly string[]
  /** Programs that start themselves again by the name that they were started with. Needs the loader of glibc 2.33. */
  readonly startedByThemselves?: readonly string[]
  /** Rejects when its programs do not start: the tree is then made again. */
  readonly check?: (root: DebianRoot) => Promise<unknown>
  /** Whether another account must be able to read it. */
  readonly isOpen?: boolean
}

const NOBODY_READS = ['doc', 'man', 'info', 'locale', 'lintian', 'bash-completion'].map(
  (name) => `usr/share/${name}`,
)

/** Where a tree of this architecture has its libraries, and one of them the loader. */
function libraryFolders({ triplet }: Architecture): readonly string[] {
  return [`lib/${triplet}`, `usr/lib/${triplet}`, 'lib', 'usr/lib', 'lib64', 'usr/lib64']
}

/**
 * Packages of any Debian suite with everything they depend on, libc included, unpacked into the cache.
 *
 * Needs apt, dpkg-deb and Debian's keyring; needs no root, installs nothing, starts nothing.
 */
export async function debianRoot(options: DebianRootOptions): Promise<DebianRoot> {
  const { architecture = architectureOf() } = options
  const rootAt = async (path: string): Promise<DebianRoot> => {
    const words = await loaderWords(path, architecture)
    return { path, program: (program) => [...words(path), join(path, program)] }
  }
  const finish = async (draft: string): Promise<void> => {
    const words = (await loaderWords(draft, architecture))('$root')
    for (const program of options.startedByOthers ?? []) await wrap(draft, program, words)
    for (const program of options.startedByThemselves ?? [])
      await wrap(draft, program, [...words, '--argv0', `$root/${program}`])
  }
  const path = await debianTree(options, finish, async (folder) => options.check?.(await rootAt(folder)))
  return rootAt(path)
}

/** As {@link debianRoot}, for packages whose programs nothing here starts. `finish` may change the tree. */
export async function debianTree(
  options: DebianRootOptions,
  finish: (draft: string) => Promise<void>,
  check?: Check,
): Promise<string> {
  const folder = options.isOpen === true ? openCacheFolder(options.name) : cacheFolder(options.name)
  const make = async (draft: string): Promise<void> => {
    const archives = join(draft, 'archives')
    const packages = await downloadPackages(options, archives)
    progress(`unpacking ${packages.length} Debian packages for ${options.name}`)
    for (const file of packages) await runCommand('dpkg-deb', ['-x', file, draft])
    const unwanted = [
      archives,
      ...[...NOBODY_READS, 'usr/include', ...(options.prune ?? [])].map((p) => join(draft, p)),
    ]
    for (const part of unwanted) await rm(part, { recursive: true, force: true })
    await finish(draft)
  }
  return once(folder, make, check)
}

/** What must stand before a program of the tree, for a tree that is at `root` when it runs. */
export async function loaderWords(
  tree: string,
  architecture: Architecture,
): Promise<(root: string) => [string, ...string[]]> {
  const { loader } = architecture
  const folders = await keep(libraryFolders(architecture), (folder) => exists(join(tree, folder)))
  // Some releases have the loader twice, once as a link to an absolute path, which is the machine's own loader.
  const [home] = await keep(folders, async (folder) => isFile(join(tree, folder, loader)))
  if (home === undefined) throw new Error(`${tree} has no ${loader}`)
  return (root) => {
    const libraryPath = folders.map((folder) => `${root}/${folder}`).join(':')
    return [`${root}/${home}/${loader}`, '--library-path', libraryPath]
  }
}

/** Puts a script in the program's place. The script finds the tree from its own place: the draft will be moved. */
async function wrap(tree: string, program: string, words: readonly string[]): Promise<void> {
  await rename(join(tree, program), join(tree, `${program}.real`))
  const up = program.split('/').slice(1).fill('..').join('/')
  const script = [
    '#!/bin/sh',
    `root=$(cd "$(dirname "$(readlink -f "$0")")/${up}" && pwd)`,
    `exec ${words.map((word) => `"${word}"`).join(' ')} "$root/${program}.real" "$@"`,
  ]
  await writeFile(join(tree, program), `${script.join('\n')}\n`, { mode: 0o755 })
}

/** Whether a file of the tree is there, by its name or by a link beside it. */
async function isFile(path: string): Promise<boolean> {
  const target = await readlink(path).catch(() => '') // it is no link
  return !isAbsolute(target) && exists(path)
}

async function keep<T>(items: readonly T[], test: (item: T) => Promise<boolean>): Promise<T[]> {
  const verdicts = await Promise.all(items.map(test))
  return items.filter((_, index) => verdicts[index])
}
