import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/**
 * When the connection ends: before the server has seen the words, or after it has answered, before the client hears.
 *
 * `silent` is a network that swallows everything from these words on: neither side hears of any end.
 */
export type Cut = 'before' | 'after' | 'silent'

/** A loopback address that leads to the real server, and breaks the connection at the words it is told. */
export interface CuttingProxy {
  readonly url: string
  /** Cuts the next connection on which the client says `words`; of so many connections. Resolves when all are cut. */
  readonly cutAt: (words: string, when: Cut, count?: number) => Promise<void>
  /** Falls silent on all connections, those that are made from now on included. */
  readonly stall: () => void
  /** Cuts nothing more, and ends the connections that have fallen silent, as both sides do in the end. */
  readonly mend: () => void
  readonly close: () => Promise<void>
}

interface Armed {
  readonly words: string
  readonly when: Cut
  readonly isLast: () => boolean
}

export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const silent = new Set<Socket>()
  let armed: Armed | undefined
  let isStalled = false
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host: hostname, port: Number(port), noDelay: true })
    let isCut = false
    let isSilent = false
    const isLost = (): boolean => isSilent || isStalled
    client.on('data', (data) => {
      if (isLost()) return
      const hit = armed !== undefined && data.includes(armed.words) ? armed : undefined
      if (hit === undefined) return void upstream.write(data)
      if (hit.isLast()) armed = undefined
      if (hit.when === 'before') return void client.destroy()
      if (hit.when === 'silent') {
        isSilent = true
        for (const socket of [client, upstream]) silent.add(socket)
        return
      }
      isCut = true
      return void upstream.write(data)
    })
    upstream.on('data', (data) => {
      if (isCut) client.destroy()
      else if (!isLost()) client.write(data)
    })
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(socket)
          silent.delete(socket)
          if (!isLost()) other.destroy()
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
    cutAt: (words, when, count = 1) =>
      new Promise((resolve) => {
        let left = count
        const isLast = (): boolean => {
          left -= 1
          if (left === 0) resolve()
          return left === 0
        }
        armed = { words, when, isLast }
      }),
    stall: () => {
      isStalled = true
    },
    mend: () => {
      armed = undefined
      for (const socket of silent) socket.destroy()
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
