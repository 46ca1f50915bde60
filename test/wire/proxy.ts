import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

import type { Protocol } from './protocols.ts'

/** A loopback address that leads to the real server and hears everything that is said. */
export interface Proxy {
  readonly url: string
  /** The round trips that are made while `work` runs, each as what the client asked in it. */
  readonly during: (work: () => Promise<unknown>) => Promise<readonly string[]>
  /** From the first text on that `pattern` is found in, the server's answers on its connection wait for `letGo`. */
  readonly hold: (pattern: RegExp) => Held
  readonly close: () => Promise<void>
}

export interface Held {
  /** The text was heard, and is on its way to the server. */
  readonly isAsked: Promise<void>
  readonly letGo: () => void
}

export async function startProxy(target: string, protocol: Protocol): Promise<Proxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const trips: string[] = []
  let held: ((text: string, upstream: Socket, client: Socket) => void) | undefined
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host: hostname, port: Number(port), noDelay: true })
    const ears = protocol((asked) => trips.push(asked))
    client.on('data', (chunk: Buffer) => held?.(chunk.toString('latin1'), upstream, client))
    // heard before it is passed on: whoever has the answer finds its round trip counted
    client.on('data', ears.fromClient).pipe(upstream)
    upstream.on('data', ears.fromServer).pipe(client)
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => other.destroy()).on('close', () => sockets.delete(socket))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: reachedAt(target, (server.address() as AddressInfo).port),
    during: async (work) => {
      const before = trips.length
      await work()
      return trips.slice(before)
    },
    hold: (pattern) => {
      let letGo = (): void => {}
      const isAsked = new Promise<void>((resolve) => {
        held = (text, upstream, client) => {
          if (!pattern.test(text)) return
          held = undefined
          upstream.unpipe(client).pause()
          letGo = () => void upstream.pipe(client)
          resolve()
        }
      })
      return { isAsked, letGo: () => letGo() }
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function reachedAt(target: string, port: number): string {
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String(port)
  return url.href
}
