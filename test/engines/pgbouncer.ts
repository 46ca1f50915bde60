import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { debianRoot } from './debian-root.ts'
import type { Server, StartedServer } from './engine.ts'
import { findPrograms } from './find-program.ts'
import { freePort } from './free-port.ts'
import { postgresVersion } from './postgres-session.ts'
import { privateFolder } from './private-folder.ts'
import { startServer } from './start-server.ts'
import { unprivileged } from './unprivileged.ts'

/** How long a client keeps a connection to the server: for one transaction, or until it leaves. */
export type PoolMode = 'transaction' | 'session'

/** Starts PgBouncer in front of a PostgreSQL server. Its URL leads to the database that the server's URL names. */
export async function startPgBouncer(postgres: Server, mode: PoolMode): Promise<StartedServer> {
  const user = await unprivileged()
  const program = await pgBouncer()
  await user.checkReads(program.at(-1) ?? '')
  const folder = await privateFolder('pgbouncer')
  const port = await freePort()
  const settings = join(folder.path, 'pgbouncer.ini')
  await writeFile(settings, settingsFor(new URL(postgres.url), mode, port))
  await user.give(folder.path)
  const { pathname } = new URL(postgres.url)
  return startServer({
    name: 'pgbouncer',
    origin: 'download',
    folder,
    command: 'env',
    args: [...user.words, ...program, settings],
    stopSignal: 'SIGINT', // SIGTERM ends it at once in older releases, and waits for the clients in newer ones
    url: `postgres://anybody@127.0.0.1:${port}${pathname}`,
    version: postgresVersion,
  })
}

async function pgBouncer(): Promise<readonly string[]> {
  const [installed] = await findPrograms('pgbouncer', ['/usr/sbin'])
  if (installed !== undefined) return [installed]
  const { program } = await debianRoot({
    name: 'pgbouncer-debian-bookworm',
    suite: 'bookworm',
    packages: ['pgbouncer'],
  })
  return program('usr/sbin/pgbouncer')
}

/** Whoever comes in is the user that the server knows. */
function settingsFor({ hostname, port, username, password }: URL, mode: PoolMode, own: number): string {
  const server = [`host=${hostname}`, `port=${port || 5432}`, `user=${decodeURIComponent(username)}`]
  if (password !== '') server.push(`password='${decodeURIComponent(password).replaceAll("'", "''")}'`)
  const lines = [
    '[databases]',
    `* = ${server.join(' ')}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${own}`,
    'unix_socket_dir =',
    'auth_type = any',
    `pool_mode = ${mode}`,
    'default_pool_size = 5',
    'max_client_conn = 100',
    'ignore_startup_parameters = extra_float_digits',
  ]
  return `${lines.join('\n')}\n`
}
