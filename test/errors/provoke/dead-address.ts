import { createServer, type AddressInfo, type Socket } from 'node:net'

import { freePort } from '../../engines/free-port.ts'
import type { Stage } from '../stage.ts'

/** The same address with a port on which nobody listens. */
export async function towardsNobody(url: string): Promise<string> {
  return withPort(url, await freePort())
}

/** The same address with a port on which somebody takes calls and never says a word. */
export async function towardsSilence(url: string, stage: Stage): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => void sockets.add(socket))
  stage.afterwards(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return withPort(url, (server.address() as AddressInfo).port)
}

function withPort(url: string, port: number): string {
  const address = new URL(url)
  address.host = `127.0.0.1:${port}`
  return address.href
}
