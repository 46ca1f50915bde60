import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { openUrl } from '../../src/connect/open.ts'
import { openScratch } from '../../src/connect/scratch.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { allTextOf, refused } from './refused.ts'

const protocols = ['postgres', 'mysql', 'sqlserver', 'mongodb']
const secret = 'p@ss w%rd/1:2'
const login = `me:${encodeURIComponent(secret)}`

describe('what cannot be reached', () => {
  const sockets = new Set<Socket>()
  let silent: Server
  beforeAll(async () => {
    silent = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => {}).resume()
    })
    await new Promise<void>((resolve) => {
      silent.listen(0, '127.0.0.1', resolve)
    })
  })
  afterAll(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => {
      silent.close(resolve)
    })
  })

  test('a server that lets in and never answers is given up after ten seconds, and its connection closed', async () => {
    const { port } = silent.address() as AddressInfo
    await Promise.all(
      protocols.map(async (protocol) => {
        const error = await refused('unreachable', openUrl(`${protocol}://${login}@127.0.0.1:${port}/app`))
        expect(error.message).toContain(`cannot reach ${protocol}://127.0.0.1:${port}/app`)
        expectNoSecret(error)
      }),
    )
    expect(sockets.size).toBeGreaterThanOrEqual(protocols.length)
    await until(
      () => [...sockets].every((socket) => socket.readableEnded || socket.destroyed),
      'the end of every connection',
    )
  })

  test.each(protocols)('a port on which nobody listens is named: %s', async (protocol) => {
    const error = await refused('unreachable', openUrl(`${protocol}://${login}@127.0.0.1:1/app`))
    expect(error.message).toContain(`${protocol}://127.0.0.1:1/app`)
    expect(error.cause).toBeInstanceOf(Error)
    expectNoSecret(error)
  })

  test.each(protocols)('a host that nobody knows is named: %s', async (protocol) => {
    const error = await refused('unreachable', openScratch(`${protocol}://${login}@nohost.invalid/app`))
    expect(error.message).toContain('nohost.invalid')
    expectNoSecret(error)
  })

  test('an option that the driver refuses is an error of the address, without its value', async () => {
    const url = `mongodb://${login}@127.0.0.1:1/app?authMechanism=secretvalue`
    const error = await refused('address', openUrl(url))
    expect(allTextOf(error)).not.toContain('secretvalue')
    expectNoSecret(error)
  })

  test('an unknown protocol is answered with examples', async () => {
    const error = await refused('address', openUrl('oracle://me:secret@host/db'))
    expect(error.message).toContain('oracle:')
    expect(error.message).toContain('postgres://user:password@localhost:5432/database')
    expect(allTextOf(error)).not.toContain('secret')
  })
})

describeEngines(unreachableFiles, { only: ['sqlite', 'duckdb'] })

function unreachableFiles({ name }: EngineContext): void {
  const file = name === 'sqlite' ? 'app.db' : 'app.duckdb'

  test.each([`/nowhere/${file}`, `${name}:./missing.${name}`])(
    'a file that is not there is not made: %s',
    async (url) => {
      const error = await refused('address', openUrl(url))
      expect(error.message).toContain('there is no file')
    },
  )

  test('nor a folder for a scratch file', async () => {
    const error = await refused('address', openScratch(`/nowhere/${file}`))
    expect(error.message).toContain('there is no folder /nowhere')
  })

  // a folder that not even root may write to, on Linux
  test.skipIf(process.platform !== 'linux')(
    'a folder that cannot be written to is a matter of rights',
    async () => {
      expect((await refused('rights', openScratch(`/sys/${file}`))).message).toContain(
        '/sys cannot be written to',
      )
    },
  )

  test('a file of another kind is refused, and so is a database in memory', async () => {
    await refused('address', openUrl(`${name}:package.json`))
    await refused('address', openUrl(`${name}::memory:`))
  })
}

function expectNoSecret(error: Error): void {
  for (const text of [secret, encodeURIComponent(secret), encodeURI(secret), login]) {
    expect(allTextOf(error)).not.toContain(text)
  }
}
