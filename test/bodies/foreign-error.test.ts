import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { classifyError } from '../../src/classify.ts'
import { LockError, RetryableTransactionError } from '../../src/core/errors.ts'
import type { Retry } from '../../src/locks/transaction/options.ts'
import type { DialectName } from '../../src/registry.ts'
import { caught, describeEntries } from '../entries/stage.ts'
import { describeClients } from './client.ts'

/** An error of the application's. */
class NoOrderError extends Error {
  override readonly name = 'NoOrderError'
}

describeEntries((stage) => {
  test.each([1, 5])(
    'an error of the work that has a lost transaction as its cause is what the caller sees after %i attempts',
    async (attempts) => {
      const { locks, increment } = stage.entry
      const before = await stage.seen()
      const thrown: unknown[] = []
      const work = locks.transaction(
        async (tx) => {
          await increment(tx)
          const cause = new RetryableTransactionError('write-conflict', 'lost on purpose')
          thrown.push(new NoOrderError('no order', { cause: new Error('not stored', { cause }) }))
          throw thrown.at(-1)
        },
        { attempts, backoff: { capMs: 1 } },
      )
      expect(await caught(work)).toBe(thrown.at(-1))
      expect(thrown).toHaveLength(attempts)
      expect(await stage.seen()).toBe(before)
    },
  )
})

/** What a server says to the loser of a deadlock, and of a serialization failure. */
const losses: Readonly<Record<string, readonly string[]>> = {
  postgres: ['40P01', '40001'].map((code) => `do $$ begin raise exception using errcode = '${code}'; end $$`),
  mysql: ["signal sqlstate '40001' set mysql_errno = 1213"],
  mariadb: ["signal sqlstate '40001' set mysql_errno = 1213"],
}

const connectionReset = (): Error => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })

/** Errors that throw when they are looked at, some only deep within. */
const unreadable: Readonly<Record<string, () => Error>> = {
  'an error whose field cannot be looked at any longer': () => {
    const { proxy: meta, revoke } = Proxy.revocable({}, {})
    revoke()
    const inner = new Error('not stored', { cause: connectionReset() })
    return Object.assign(new Error('no order', { cause: inner }), { meta })
  },
  'an error whose cause cannot be looked at': () => {
    const { proxy: cause, revoke } = Proxy.revocable({}, {})
    revoke()
    return new Error('no order', { cause })
  },
  'an error that does not say which fields it has': () =>
    new Proxy(new Error('no order', { cause: connectionReset() }), {
      has: () => {
        throw new Error('nobody may ask')
      },
    }),
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

    test.each(Object.entries(unreadable))('and throws %s is rolled back', async (_, make) => {
      const thrown = make()
      const { locks, increment, read } = stage.entry
      const before = await stage.seen()
      const work = locks.transaction(
        async (tx) => {
          await increment(tx)
          throw thrown
        },
        { attempts: 1 },
      )
      expect((await caught(work)) === thrown).toBe(true)
      // what is left open is stored by the next one on that connection
      await locks.transaction(async (tx) => void (await read(tx)))
      expect(await stage.seen()).toBe(before)
    })

    test('and wraps an error of that connection which has its code is run once', async () => {
      let runs = 0
      const thrown = new Error('no payment', { cause: connectionReset() })
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

      test.each([
        [1, {}],
        [5, {}],
        // as libraries have them on theirs
        [5, { query: 'no order', sql: 'select 1', sqlMessage: 'no order' }],
      ])(
        'of its own transaction is what an error of the work was made of, which the caller sees after %i attempts, with %o',
        async (attempts, fields) => {
          const client = scene.connect(1)
          const retried: unknown[] = []
          const thrown: unknown[] = []
          const onRetry = ({ kind, error }: Retry): void => void retried.push([kind, error])
          const work = client.locks.transaction(
            async (tx) => {
              await client.query(tx, 'select 1')
              const cause = await caught(client.query(tx, text))
              thrown.push(Object.assign(new NoOrderError('no order', { cause }), fields))
              throw thrown.at(-1)
            },
            { attempts, onRetry, backoff: { capMs: 1 } },
          )
          const error = await caught(work)
          expect(error).toBe(thrown.at(-1))
          expect(thrown).toHaveLength(attempts)
          const kind: unknown = expect.stringMatching(/^(?:deadlock|serialization)$/)
          expect(retried).toEqual(thrown.slice(0, -1).map((one) => [kind, one]))
          expect(classifyError(error, { dialect: scene.name as DialectName })).toMatchObject({ kind })
        },
      )

      test('of its own transaction, and then an error of the work whose cause nobody can look at: the caller sees that', async () => {
        const client = scene.connect(1)
        const { proxy: cause, revoke } = Proxy.revocable({}, {})
        revoke()
        const thrown = new NoOrderError('no order', { cause })
        const work = client.locks.transaction(
          async (tx) => {
            await caught(client.query(tx, text))
            throw thrown
          },
          { attempts: 2, backoff: { capMs: 1 } },
        )
        expect((await caught(work)) === thrown).toBe(true)
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
