import { createServer, connect, type AddressInfo, type Socket } from 'node:net'

/*
 * Passes bytes on, each so many milliseconds after it came: `delay-proxy-child.ts <host> <port> <ms>`. Says on which
 * port it listens, and ends with its parent.
 */

const [host = '', port = '', delayMs = ''] = process.argv.slice(2)

const server = createServer({ noDelay: true }, (client) => {
  const upstream = connect({ host, port: Number(port), noDelay: true })
  pass(client, upstream)
  pass(upstream, client)
})
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit())

function pass(from: Socket, to: Socket): void {
  from.on('data', (chunk) => later(() => to.write(chunk)))
  from.on('end', () => later(() => to.end()))
  from.on('error', () => to.destroy())
  from.on('close', () => later(() => to.destroy()))
}

interface Delayed {
  readonly at: number
  readonly act: () => unknown
}

const delayed: Delayed[] = []
const nobodyWakes = new Int32Array(new SharedArrayBuffer(4))

/** Node's own timers keep whole milliseconds: one that is to take 1 takes up to 2, which is what was measured then. */
function later(act: () => unknown): void {
  delayed.push({ at: performance.now() + Number(delayMs), act })
  if (delayed.length === 1) setImmediate(passOn)
}

function passOn(): void {
  for (let [next] = delayed; next !== undefined; [next] = delayed) {
    const leftMs = next.at - performance.now()
    if (leftMs > 0) {
      // in short naps, between which is heard what has come meanwhile
      Atomics.wait(nobodyWakes, 0, 0, Math.min(0.1, leftMs))
      setImmediate(passOn)
      return
    }
    delayed.shift()
    next.act()
  }
}
