import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

import { MongoClient } from 'mongodb'
import { afterEach, beforeEach, expect, test } from 'vitest'

import { LockTimeoutError } from '../../src/core/errors.ts'
import { createLocks } from '../../src/entries/mongodb.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { mongodbStage, type Tx } from './mongodb-stage.ts'

describeEngines(specs, { only: ['mongodb'] })

/** In front of a network that passes nothing on, a transaction ends; what it could not say is heard when it does. */
function specs(context: EngineContext): void {
  const { insert, stored } = mongodbStage(context)
  let network: Network
  let client: MongoClient
  beforeEach(async () => {
    network = await startNetwork(context.engine.server.url)
    client = await new MongoClient(network.url, { monitorCommands: true }).connect()
  })
  afterEach(async () => {
    await client.close(true)
    await network.close()
  })

  const bodies: readonly (readonly [string, (tx: Tx) => Promise<void>])[] = [
    ['nothing under way', async () => network.fallSilent()],
    [
      'an operation under way',
      async (tx) => {
        network.fallSilent()
        const isSent = once(client, 'commandStarted')
        void insert(tx, 2).catch(() => {})
        await isSent
      },
    ],
  ]

  test.each(bodies)('work that throws with %s is rolled back', async (_, fallSilent) => {
    const thrown = createLocks(client).transaction(async (tx) => {
      await insert(tx, 1)
      await fallSilent(tx)
      throw new Error('thrown by the work')
    })
    await expect(thrown).rejects.toThrow('thrown by the work')
    await heardAgain()
  })

  test.each(bodies)('work that is aborted with %s is rolled back', async (_, fallSilent) => {
    const stop = new AbortController()
    const aborted = createLocks(client).transaction(
      async (tx) => {
        await insert(tx, 1)
        await fallSilent(tx)
        stop.abort(new Error('stopped'))
        return new Promise(() => {})
      },
      { signal: stop.signal },
    )
    await expect(aborted).rejects.toThrow('stopped')
    await heardAgain()
  })

  test('a lock whose row is not there yet ends in its time', async () => {
    const locks = createLocks(client)
    const waiting = locks.transaction(async (tx) => {
      await insert(tx, 1)
      network.fallSilent()
      await locks.lock(tx, 'a new one', { wait: { timeoutMs: 100 } })
    })
    await expect(waiting).rejects.toBeInstanceOf(LockTimeoutError)
    await heardAgain()
  })

  const heardAgain = async (): Promise<void> => {
    network.speak()
    await client.db().command({ ping: 1 })
    expect(await stored()).toEqual([0])
  }
}

interface Network {
  readonly url: string
  /** Accepts what is said, and passes nothing on until it is to speak again. */
  readonly fallSilent: () => void
  readonly speak: () => void
  readonly close: () => Promise<void>
}

async function startNetwork(target: string): Promise<Network> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let isSilent = false
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ host: hostname, port: Number(port), noDelay: true })
    near.pipe(far)
    far.pipe(near)
    for (const socket of [near, far]) {
      sockets.add(socket)
      if (isSilent) socket.pause()
      socket.on('error', () => {}).on('close', () => (near.destroy(), far.destroy()))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(target)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const each = (act: (socket: Socket) => unknown): void => sockets.forEach((socket) => void act(socket))
  return {
    url: url.href,
    fallSilent: () => {
      isSilent = true
      each((socket) => socket.pause())
    },
    speak: () => {
      isSilent = false
      each((socket) => socket.resume())
    },
    close: async () => {
      each((socket) => socket.destroy())
      server.close()
      await once(server, 'close')
    },
  }
}
