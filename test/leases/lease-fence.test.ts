import { beforeAll, expect, test } from 'vitest'

import { LockLostError, LockNotAvailableError, LockUsageError } from '../../src/core/errors.ts'
import type { Statement } from '../../src/core/statement.ts'
import { createFence } from '../../src/locks/lease/fence.ts'
import type { Lease } from '../../src/locks/lease/lease.ts'
import { until } from '../engines/use.ts'
import { caught, gate } from '../entries/stage.ts'
import { describeLeases, take, type LeaseStage } from './lease-stage.ts'

const assertFence = createFence()

describeLeases((stage) => {
  const isDocuments = stage.name === 'mongodb'
  const note = (who: string): Statement =>
    isDocuments
      ? { command: { insert: 'journal', documents: [{ who }] } }
      : { sql: `INSERT INTO journal (who) VALUES ('${who}')`, params: [] }

  beforeAll(async () => {
    const session = await stage.engine.open()
    await session.run(
      isDocuments
        ? { command: { create: 'journal' } }
        : { sql: 'CREATE TABLE journal (who VARCHAR(64))', params: [] },
    )
    await session.close()
  })

  const journal = async (who: string): Promise<number> => {
    const session = await stage.engine.open()
    const rows = await session.run(
      isDocuments
        ? { command: { find: 'journal', filter: { who } } }
        : { sql: `SELECT who FROM journal WHERE who = '${who}'`, params: [] },
    )
    await session.close()
    return rows.length
  }

  /** Writes under a lease, in a transaction. */
  const write = async (who: string, lease: Lease, isFenced = true): Promise<void> => {
    const { shared, find } = stage.meeting()
    await shared.transaction(async (tx) => {
      const open = find(tx)
      if (isFenced) await assertFence(open, lease)
      await open.session.run(note(who))
    })
  }

  test('the holder writes', async () => {
    const name = stage.fresh()
    const lease = await take(stage.process(), name)
    await write(name, lease)
    await write(name, lease)
    expect(await journal(name)).toBe(2)
  })

  test('a holder that does not know yet that it is stale cannot write', async () => {
    const [name, stale] = await staleLease(stage)
    expect(await caught(write(name, stale))).toBeInstanceOf(LockLostError)
    expect(await journal(name)).toBe(0)
  })

  test('without the fence the stale holder writes', async () => {
    const [name, stale] = await staleLease(stage)
    await write(name, stale, false)
    expect(await journal(name)).toBe(1)
  })

  test('a released lease fences off its former holder', async () => {
    const name = stage.fresh()
    const lease = await take(stage.process(), name)
    await lease.release()
    expect(await caught(write(name, lease))).toBeInstanceOf(LockLostError)
    expect(await journal(name)).toBe(0)
  })

  test('nobody takes the lease over before the fenced transaction has ended', async () => {
    const name = stage.fresh()
    const lease = await take(stage.process(), name, { ttlMs: 10_000, renew: false })
    const [isFenced, mayCommit] = [gate(), gate()]
    const { shared, find } = stage.meeting()
    const writing = shared.transaction(async (tx) => {
      await assertFence(find(tx), lease)
      isFenced.open()
      await find(tx).session.run(note(name))
      await mayCommit.opened
    })
    await isFenced.opened
    let isTaken = false
    const taking = take(stage.process(), name).finally(() => (isTaken = true))
    await until(() => lease.signal.aborted, 'the end of its time')
    await expect(until(() => isTaken, 'a takeover', 300)).rejects.toThrow('not seen')
    mayCommit.open()
    await writing
    const next = await taking
    expect(next.fence).toBeGreaterThan(lease.fence)
    expect(await journal(name)).toBe(1)
  })

  test('whoever does not wait is told soon that a transaction under the ended lease may be open', async () => {
    const name = stage.fresh()
    const lease = await take(stage.process(), name)
    await stage.tamper(name, { expiresAt: 0 })
    const [isFenced, mayCommit] = [gate(), gate()]
    const { shared, find } = stage.meeting()
    const writing = shared.transaction(async (tx) => {
      await assertFence(find(tx), lease)
      isFenced.open()
      await mayCommit.opened
    })
    await isFenced.opened
    const refused = await caught(take(stage.process(), name, { wait: 'nowait' }))
    mayCommit.open()
    await writing
    expect(refused).toBeInstanceOf(LockNotAvailableError)
    expect(String(refused)).toMatch(refusals[stage.name] ?? busyDatabase)
    const next = await take(stage.process(), name)
    expect(next.fence).toBeGreaterThan(lease.fence)
  })

  test('something else than a lease, or a transaction that only reads, is refused', async () => {
    const name = stage.fresh()
    const lease = await take(stage.process(), name)
    await expect(write(name, { ...lease })).rejects.toBeInstanceOf(LockUsageError)
    const { shared, find } = stage.meeting()
    await expect(
      shared.transaction(async (tx) => assertFence({ ...find(tx), access: 'read-only' }, lease)),
    ).rejects.toMatchObject({ field: 'access' })
  })
})

const busyDatabase = /: the database is busy with another transaction, so that it is not known who has it$/
const slowTakeover = /no answer in 1000 ms: a transaction under it may still be open$/

/** Where the server says who has the row, and where nobody can but wait for it. */
const refusals: Readonly<Record<string, RegExp>> = {
  postgres: /: another is taking it, or a transaction under it is still open$/,
  mysql: slowTakeover,
  mariadb: slowTakeover,
  mssql: slowTakeover,
  mongodb: /: the server did not say in time who has it$/,
}

/** A lease that was taken over while its holder slept: it still believes in it. */
async function staleLease(stage: LeaseStage): Promise<[string, Lease]> {
  const name = stage.fresh()
  const stale = await take(stage.process(), name)
  await stage.tamper(name, { expiresAt: 0 })
  const next = await take(stage.process(), name, { wait: 'nowait' })
  expect(next.fence).toBeGreaterThan(stale.fence)
  expect(stale.signal.aborted).toBe(false)
  return [name, stale]
}
