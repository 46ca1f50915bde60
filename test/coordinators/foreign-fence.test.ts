import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { LockLostError, LockUsageError } from '../../src/core/errors.ts'
import { chosenLeaseName } from '../../src/core/lease-name.ts'
import type { Statement } from '../../src/core/statement.ts'
import { createLeases } from '../../src/entries/redis.ts'
import type { Lease } from '../../src/locks/lease/lease.ts'
import { useExtraServer, type Skip } from '../engines/extra-server.ts'
import { startRedis } from '../engines/redis-server.ts'
import { caught, gate } from '../entries/stage.ts'
import { describeLeases } from '../leases/lease-stage.ts'
import { lose, nodeRedis, type OpenedRedis } from './redis-clients.ts'

const server = useExtraServer(() => startRedis())

describeLeases((stage) => {
  const isDocuments = stage.name === 'mongodb'
  let redis: OpenedRedis | undefined

  beforeAll(async () => {
    const session = await stage.engine.open()
    const make = isDocuments
      ? { command: { create: 'journal' } }
      : sql('CREATE TABLE journal (who VARCHAR(64))')
    await session.run(make)
    await session.close()
  })
  afterAll(() => redis?.close())

  const note = (who: string): Statement =>
    isDocuments
      ? { command: { insert: 'journal', documents: [{ who }] } }
      : sql(`INSERT INTO journal (who) VALUES ('${who}')`)

  const journal = async (who: string): Promise<number> => {
    const session = await stage.engine.open()
    const rows = await session.run(
      isDocuments
        ? { command: { find: 'journal', filter: { who } } }
        : sql(`SELECT who FROM journal WHERE who = '${who}'`),
    )
    await session.close()
    return rows.length
  }

  /** Two holders of one lease of Redis, of whom the first does not know that it has lost it. */
  const two = async (skip: Skip): Promise<{ stale: Lease; held: Lease }> => {
    redis ??= await nodeRedis.open(server(skip).server.url)
    const [leases, key] = [createLeases(redis.client), randomUUID()]
    const stale = await leases.lease(key, { renew: false })
    await lose(redis.send, stale.fence, [`holdfast:lease:${chosenLeaseName(key)}`])
    return { stale, held: await leases.lease(key, { renew: false }) }
  }

  /** Writes under a lease, in a transaction. */
  const write = async (lease: Lease, during: () => Promise<void> = async () => {}): Promise<void> => {
    const { shared, find } = stage.meeting()
    await shared.fenced(lease, async (tx) => {
      await find(tx).session.run(note(lease.owner))
      await during()
    })
  }

  test('a holder writes again and again, until a higher fence was seen', async ({ skip }) => {
    const { stale, held } = await two(skip)
    await write(stale) // nobody has been here with the higher one
    await write(stale)
    expect(await journal(stale.owner)).toBe(2)
    await write(held)
    expect(await caught(write(stale))).toBeInstanceOf(LockLostError)
    expect(await journal(stale.owner)).toBe(2)
    await write(held)
    expect(await journal(held.owner)).toBe(2)
  })

  test('what was rolled back has not been seen', async ({ skip }) => {
    const { stale, held } = await two(skip)
    const broken = new Error('the work has failed')
    expect(await caught(write(held, () => Promise.reject(broken)))).toBe(broken)
    await write(stale)
    expect(await journal(stale.owner)).toBe(1)
  })

  test('two who write at once come one after the other, and never the stale one behind', async ({ skip }) => {
    const { stale, held } = await two(skip)
    await write(stale) // the row is there
    const [entered, leave] = [gate(), gate()]
    const first = write(held, async () => {
      entered.open()
      await leave.opened
    })
    await entered.opened
    const second = caught(write(stale))
    leave.open()
    await first
    expect(await second).toBeInstanceOf(LockLostError)
    expect(await journal(stale.owner)).toBe(1)
  })

  test('the fences of one key under two prefixes are not compared', async ({ skip }) => {
    redis ??= await nodeRedis.open(server(skip).server.url)
    const [{ client }, key] = [redis, randomUUID()]
    const low = await createLeases(client, { prefix: 'one:' }).lease(key)
    const other = createLeases(client, { prefix: 'two:' })
    await (await other.lease(key)).release()
    const higher = await other.lease(key)
    expect(higher.fence).toBeGreaterThan(low.fence)
    await write(higher)
    await write(low)
    expect(await journal(low.owner)).toBe(1)
    await low.release()
    await higher.release()
  })

  test("a permit is compared with the others of its slot, and with none of the database's own", async ({
    skip,
  }) => {
    redis ??= await nodeRedis.open(server(skip).server.url)
    const [{ client, send }, key] = [redis, randomUUID()]
    const semaphore = createLeases(client).semaphore(key, { permits: 2, renew: false })
    const both = [await semaphore.acquire(), await semaphore.acquire()]
    const [low, high] = both.toSorted((one, other) => one.fence - other.fence)
    if (low === undefined || high === undefined) throw new Error('there are two permits')
    const own = await stage.meeting().shared.semaphore(key, { permits: 2 }).acquire()
    const other = await stage.meeting().shared.semaphore(key, { permits: 2 }).acquire()
    await write(high)
    await write(low)
    expect(await journal(low.owner)).toBe(1)
    await lose(send, high.fence, await keysOf(key))
    const next = [await semaphore.acquire(), await semaphore.acquire()].find(({ slot }) => slot === low.slot)
    if (next === undefined) throw new Error('nobody has the slot')
    await write(next)
    expect(await caught(write(low))).toBeInstanceOf(LockLostError)
    await write(high)
    expect(await journal(high.owner)).toBe(2)
    for (const permit of [own, other]) {
      await permit.extend()
      await permit.release()
    }
  })

  test('of a shared lock only who has it alone can write, and only until another has', async ({ skip }) => {
    redis ??= await nodeRedis.open(server(skip).server.url)
    const [{ client, send }, key] = [redis, randomUUID()]
    const lock = createLeases(client).sharedLock(key)
    const reader = await lock.acquire({ mode: 'shared' })
    const refused = await caught(write(reader))
    expect(refused).toBeInstanceOf(LockUsageError)
    expect(refused).toMatchObject({ field: 'lease', message: /is shared with others/ })
    await reader.release()
    const stale = await lock.acquire()
    await lose(send, stale.fence, await keysOf(key))
    const held = await lock.acquire()
    // a lease of the same key has fences of its own
    const lease = await createLeases(client).lease(key)
    await write(lease)
    await write(held)
    expect(await caught(write(stale))).toBeInstanceOf(LockLostError)
    expect(await journal(stale.owner)).toBe(0)
    for (const one of [stale, held, lease]) await one.release()
  })

  /** The keys of a semaphore or a shared lock on Redis. */
  const keysOf = async (key: string): Promise<string[]> => {
    const hash = chosenLeaseName(key).split(':').at(-1)
    return (await redis?.send('KEYS', `*:h[ps]:*{${hash}}`)) as string[]
  }

  test('the fences of two leases are not compared', async ({ skip }) => {
    const [one, other] = [await two(skip), await two(skip)]
    await write(other.held)
    await write(one.stale)
    expect(await journal(one.stale.owner)).toBe(1)
  })
})

function sql(text: string): Statement {
  return { sql: text, params: [] }
}
