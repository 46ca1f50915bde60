import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** When the connection is cut: before the server has seen the words, or after it has answered, before the client hears. */
export type Cut = 'before' | 'after'

/** A loopback address that leads to the real server, and breaks the connection at the words it is told. */
export interface CuttingProxy {
  readonly url: string
  /** Cuts the next connection on which the client says `words`. Once. */
  readonly cutAt: (words: string, when: Cut) => void
  readonly close: () => Promise<void>
}

export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let armed: { readonly words: string; readonly when: Cut } | undefined
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host: hostname, port: Number(port), noDelay: true })
    let isCut = false
    client.on('data', (data) => {
      const hit = armed !== undefined && data.includes(armed.words) ? armed : undefined
      if (hit === undefined) return void upstream.write(data)
      armed = undefined
      if (hit.when === 'before') return void client.destroy()
      isCut = true
      return void upstream.write(data)
    })
    upstream.on('data', (data) => (isCut ? client.destroy() : client.write(data)))
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(socket)
          other.destroy()
        })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    cutAt: (words, when) => {
      armed = { words, when }
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
