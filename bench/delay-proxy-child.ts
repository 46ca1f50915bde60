import { createServer, connect, type AddressInfo, type Socket } from 'node:net'

/*
 * Passes bytes on, each so many milliseconds after it came: `tsx delay-proxy-child.ts <host> <port> <ms>`. Says on which
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
  from.on('data', (chunk) => setTimeout(() => to.write(chunk), Number(delayMs)))
  from.on('end', () => setTimeout(() => to.end(), Number(delayMs)))
  from.on('error', () => to.destroy())
  from.on('close', () => setTimeout(() => to.destroy(), Number(delayMs)))
}
