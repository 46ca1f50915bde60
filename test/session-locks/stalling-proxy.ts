import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A way to a server that can fall silent, as a network does whose router is gone: nobody hears of any end. */
export interface StallingProxy {
  readonly url: string
  readonly stall: () => void
  readonly close: () => Promise<void>
}

export async function stallingProxy(to: string): Promise<StallingProxy> {
  const target = new URL(to)
  const sockets = new Set<Socket>()
  let isStalled = false
  const pass = (from: Socket, into: Socket): void => {
    sockets.add(from)
    from.on('data', (data) => void (isStalled || into.write(data)))
    from.on('error', () => {})
    from.on('close', () => void (isStalled || into.destroy()))
  }
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname)
    pass(near, far)
    pass(far, near)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const url = new URL(to)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    stall: () => {
      isStalled = true
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => void server.close(resolve))
    },
  }
}
