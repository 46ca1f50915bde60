import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A loopback address that leads to a server, and can be taken away and put back. */
export interface Relay {
  readonly url: string
  /** Ends all connections, and refuses new ones. */
  readonly takeAway: () => Promise<void>
  /** The same address leads to the server again. */
  readonly putBack: () => Promise<void>
  /** Swallows what is sent from now on, on all connections and on those that are made. Neither side hears of it. */
  readonly fallSilent: () => void
  /** Connections that are made from now on work. The others have lost something, and never say a word again. */
  readonly speak: () => void
}

export async function startRelay(target: string): Promise<Relay> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let isSilent = false
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    }
    let isLost = false
    const pass = (data: Buffer, to: Socket): void => {
      isLost ||= isSilent
      if (!isLost) to.write(data)
    }
    client.on('data', (data) => pass(data, upstream)).on('close', () => upstream.destroy())
    upstream.on('data', (data) => pass(data, client)).on('close', () => client.destroy())
  })
  const listen = async (at: number): Promise<void> => {
    server.listen(at, '127.0.0.1')
    await once(server, 'listening')
  }
  await listen(0)
  const own = (server.address() as AddressInfo).port
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String(own)
  return {
    url: url.href,
    takeAway: async () => {
      const closed = new Promise((resolve) => void server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
    putBack: () => listen(own),
    fallSilent: () => void (isSilent = true),
    speak: () => void (isSilent = false),
  }
}
