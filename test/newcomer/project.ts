import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { root } from '../docs/page.ts'

/*
 * What somebody does who reads the pages for the first time: an empty folder, the package as it is published, a program
 * that is pasted into a file. Drivers and tools are those of this repository: to compile them once more proves nothing.
 */

const run = promisify(execFile)
const repository = fileURLToPath(root)
const shell = process.platform === 'win32' // npm is a script there

/** What the pages tell to install besides Holdfast. */
const drivers = ['better-sqlite3', 'pg', 'mysql2', '@duckdb/node-api', 'mongodb', 'mssql']
const types = ['@types/node', '@types/better-sqlite3', '@types/pg', '@types/mssql']
const others = [...drivers, ...types, 'kysely', 'jest', 'esbuild', 'typescript']

/** Packs the package into a new folder, and gives the path of the tarball. */
export async function pack(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-newcomer-'))
  const args = ['pack', '--silent', '--pack-destination', folder]
  const { stdout } = await run('npm', args, { cwd: repository, shell })
  return join(folder, stdout.trim().split('\n').at(-1) ?? '')
}

/** An empty folder beside the tarball, in which Holdfast and then these packages are installed. */
export async function newProject(
  tarball: string,
  { name, type, packages = others }: NewProject,
): Promise<string> {
  const folder = join(dirname(tarball), name)
  await mkdir(folder)
  await run('npm', ['init', '-y'], { cwd: folder, shell })
  await run('npm', ['pkg', 'set', `type=${type}`], { cwd: folder, shell })
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], { cwd: folder, shell })
  for (const one of packages) {
    await mkdir(dirname(join(folder, 'node_modules', one)), { recursive: true })
    await symlink(join(repository, 'node_modules', one), join(folder, 'node_modules', one), 'junction')
  }
  return folder
}

export interface NewProject {
  readonly name: string
  readonly type: 'module' | 'commonjs'
  readonly packages?: readonly string[]
}

export interface Ended {
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program of JavaScript in a folder, with an address. Rejects, with all that it has said, where it fails. */
export async function node(args: readonly string[], cwd: string, url = ''): Promise<Ended> {
  try {
    return await run(process.execPath, args, { cwd, env: { ...process.env, DATABASE_URL: url } })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as Partial<Ended>
    throw new Error(`node ${args.join(' ')}\n${stdout}${stderr}`, { cause: error })
  }
}

/** The program of a package that is installed in the repository. */
export function tool(path: string): string {
  return join(repository, 'node_modules', path)
}

export async function writeIn(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
}
