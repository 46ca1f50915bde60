import { createServer } from 'node:net'

// below the range from which outgoing connections take theirs
const first = 20_000
const last = 32_000

/** A port of 127.0.0.1 that nobody listens on. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = first + Math.floor(Math.random() * (last - first))
    if (await canListen(port)) return port
  }
  throw new Error(`no free port between ${first} and ${last}`)
}

/** Whether nobody listens on a port of 127.0.0.1. */
export function canListen(port: number): Promise<boolean> {
  const probe = createServer()
  return new Promise((resolve) => {
    probe.once('error', () => resolve(false))
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)))
  })
}
