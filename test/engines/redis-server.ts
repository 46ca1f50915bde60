import { connect } from 'node:net'
import { once } from 'node:events'

import { debianRoot } from './debian-root.ts'
import type { StartedServer } from './engine.ts'
import { freePort } from './free-port.ts'
import { privateFolder } from './private-folder.ts'
import { startServer } from './start-server.ts'

/** The two servers of one protocol, each from the Debian release that has it. */
const packages = {
  redis: { suite: 'bookworm', package: 'redis-server', program: 'usr/bin/redis-server' },
  valkey: { suite: 'trixie', package: 'valkey-server', program: 'usr/bin/valkey-server' },
} as const

export type RedisKind = keyof typeof packages

/** Starts a server of its own on loopback: in memory only, unless the settings say otherwise. */
export async function startRedis(
  kind: RedisKind = 'redis',
  settings: readonly string[] = [],
): Promise<StartedServer> {
  const { suite, package: name, program } = packages[kind]
  const root = await debianRoot({ name: `${kind}-debian-${suite}`, suite, packages: [name] })
  const [command, ...words] = root.program(program)
  const [folder, port] = [await privateFolder(kind), await freePort()]
  const basic = ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder.path, '--save', '']
  return startServer({
    name: kind,
    origin: 'download',
    folder,
    command,
    args: [...words, ...basic, ...settings],
    url: `redis://127.0.0.1:${port}`,
    version: () => answerOf(port),
  })
}

/** Any answer will do: a server that wants a password is ready too. */
async function answerOf(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const ask = async (command: string): Promise<string> => {
    socket.write(`${command}\r\n`)
    const [data] = (await once(socket, 'data')) as [Buffer]
    return data.toString()
  }
  try {
    // INFO is answered meanwhile, this is not
    if ((await ask('PING')).startsWith('-LOADING')) throw new Error('it is loading its data')
    return /(?:valkey|redis)_version:(\S+)/.exec(await ask('INFO server'))?.[1] ?? 'unknown'
  } finally {
    socket.destroy()
  }
}
