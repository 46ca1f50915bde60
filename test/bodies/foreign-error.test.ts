import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { LockError } from '../../src/core/errors.ts'
import { caught, describeEntries } from '../entries/stage.ts'
import { describeClients } from './client.ts'

/** What a server says to the loser of a deadlock, and of a serialization failure. */
const losses: Readonly<Record<string, readonly string[]>> = {
  postgres: ['40P01', '40001'].map((code) => `do $$ begin raise exception using errcode = '${code}'; end $$`),
  mysql: ["signal sqlstate '40001' set mysql_errno = 1213"],
  mariadb: ["signal sqlstate '40001' set mysql_errno = 1213"],
}

describe('work that calls a service which takes the order and then hangs up', () => {
  let orders = 0
  const service = createServer((request) => {
    orders += 1
    request.socket.resetAndDestroy()
  })
  const order = (): Promise<unknown> =>
    fetch(`http://127.0.0.1:${(service.address() as AddressInfo).port}/`, { method: 'POST' })
  beforeAll(() => new Promise<void>((resolve) => void service.listen(0, '127.0.0.1', resolve)))
  afterAll(() => void service.close())

  describeEntries((stage) => {
    test('is run once, and its error arrives as it is', async () => {
      orders = 0
      let thrown: unknown
      const before = await stage.seen()
      const { locks, increment } = stage.entry
      const work = locks.transaction(async (tx) => {
        await increment(tx)
        thrown = await caught(order())
        throw thrown
      })
      expect(await caught(work)).toBe(thrown)
      expect(thrown).toMatchObject({
        cause: { code: expect.stringMatching(/ECONNRESET|UND_ERR_SOCKET/) as unknown },
      })
      expect(orders).toBe(1)
      expect(await stage.seen()).toBe(before)
    })

    test('and throws what nobody can look at is rolled back', async () => {
      const { proxy: cause, revoke } = Proxy.revocable({}, {})
      revoke()
      const { locks, increment } = stage.entry
      const before = await stage.seen()
      const work = locks.transaction(async (tx) => {
        await increment(tx)
        throw cause as Error
      })
      expect(((await caught(work)) as Error).cause === cause).toBe(true)
      expect(await stage.seen()).toBe(before)
    })

    test('and wraps an error of that connection which has its code is run once', async () => {
      let runs = 0
      const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
      const thrown = new Error('no payment', { cause: reset })
      const work = stage.entry.locks.transaction(async (tx) => {
        runs += 1
        await stage.entry.read(tx)
        throw thrown
      })
      expect(await caught(work)).toBe(thrown)
      expect(runs).toBe(1)
    })
  })
})

describeClients((scene) => {
  for (const text of losses[scene.name] ?? []) {
    describe(`a loss that the server tells (${text})`, () => {
      test("of another pool is the work's own error: it is run once", async () => {
        const [client, other] = [scene.connect(1), scene.connect(1)]
        const thrown: unknown[] = []
        const work = client.locks.transaction(async (tx) => {
          await client.query(tx, 'select 1')
          thrown.push(await caught(other.query(undefined, text)))
          throw thrown[0]
        })
        expect(await caught(work)).toBe(thrown[0])
        expect(thrown).toHaveLength(1)
      })

      test('of a transaction of other locks is not run again by the one around it', async () => {
        const [client, other] = [scene.connect(1), scene.connect(1)]
        const thrown: unknown[] = []
        const work = client.locks.transaction(async (tx) => {
          await client.query(tx, 'select 1')
          const inner = other.locks.transaction((its) => other.query(its, text), { attempts: 1 })
          thrown.push(await caught(inner))
          throw new Error('around it', { cause: thrown[0] })
        })
        expect(await caught(work)).toMatchObject({ message: 'around it', cause: thrown[0] })
        expect(thrown).toHaveLength(1)
        expect(thrown[0]).toBeInstanceOf(LockError)
      })

      test.each<[string, (error: unknown) => unknown]>([
        ['as it is', (error) => error],
        ['wrapped', (error) => new Error('outer', { cause: new Error('inner', { cause: error }) })],
        ['as another error of the kind', () => Object.assign(new Error('translated'), { code: 'P2034' })],
      ])('of its own transaction, thrown %s, is run again', async (_, thrown) => {
        const client = scene.connect(1)
        let runs = 0
        await client.locks.transaction(async (tx) => {
          runs += 1
          await client.query(tx, 'select 1')
          if (runs === 1) throw thrown(await caught(client.query(tx, text)))
        })
        expect(runs).toBe(2)
      })
    })
  }
})
