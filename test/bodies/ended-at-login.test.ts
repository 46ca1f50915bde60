import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import pg from 'pg'
import { expect, test } from 'vitest'

import { createLocks } from '../../src/entries/pg.ts'
import { describeEngines } from '../engines/use.ts'

/** As a server says it that is shut down: the message `ErrorResponse`. */
const fields = Buffer.from(
  'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0RProcessInterrupts\0\0',
)
const fatal = Buffer.concat([Buffer.from('E\0\0\0\0'), fields])
fatal.writeInt32BE(fields.length + 4, 1)

/** The last message of a log-in, `ReadyForQuery`, is six bytes. */
const isLogin = (bytes: Buffer): boolean => bytes.at(-6) === 0x5a

/** The first connection is ended in the same piece in which its log-in ends. */
async function proxyTo(url: string): Promise<{ readonly url: string; readonly close: () => void }> {
  const target = new URL(url)
  const [port, hostname] = [Number(target.port), target.hostname]
  let isFirst = true
  const server = createServer((client) => {
    const upstream = connect(port, hostname)
    client.pipe(upstream)
    upstream.on('data', (bytes: Buffer) => {
      if (!isFirst || !isLogin(bytes)) return void client.write(bytes)
      isFirst = false
      client.end(Buffer.concat([bytes, fatal]))
      upstream.destroy()
    })
    for (const socket of [client, upstream]) socket.on('error', () => {})
    client.on('close', () => upstream.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  target.hostname = '127.0.0.1'
  target.port = String((server.address() as AddressInfo).port)
  return { url: target.href, close: () => void server.close() }
}

describeEngines(
  (context) => {
    test('a connection that the server ends as it opens is no end of the process', async () => {
      const uncaught: unknown[] = []
      const note = (error: unknown): void => void uncaught.push(error)
      process.on('uncaughtException', note)
      const proxy = await proxyTo(context.engine.server.url)
      const pool = new pg.Pool({ connectionString: proxy.url, max: 1 })
      pool.on('error', () => {})
      try {
        expect(await createLocks(pool).withLock('login', async () => 'with another')).toBe('with another')
      } finally {
        await pool.end()
        proxy.close()
        process.off('uncaughtException', note)
      }
      expect(uncaught).toEqual([])
    })
  },
  { only: ['postgres'] },
)
