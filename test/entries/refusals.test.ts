import { expect, test } from 'vitest'

import { LockNotAvailableError, LockTimeoutError, type RefusedLock } from '../../src/core/errors.ts'
import { caught, describeEntries, gate, type Stage } from './stage.ts'
import { counterOf } from './subject.ts'

/** One sentence for every lock: what was asked for, and how long. The fields say the same to programs. */
describeEntries((stage: Stage) => {
  const key = ['report', 7]
  const limited = { wait: { timeoutMs: 60 } }

  /** What `ask` was refused with while another call holds what `hold` takes. */
  const whileHeld = async (
    hold: (until: () => Promise<void>) => Promise<unknown>,
    ask: () => Promise<unknown>,
  ): Promise<unknown> => {
    const [granted, done] = [gate(), gate()]
    const holding = hold(() => {
      granted.open()
      return done.opened
    })
    try {
      await Promise.race([granted.opened, holding])
      return await caught(ask())
    } finally {
      done.open()
      await holding
    }
  }

  const holdName = (until: () => Promise<void>): Promise<unknown> => stage.entry.locks.withLock(key, until)

  const isSlow = (error: unknown, asked: RefusedLock): void => {
    expect(error).toBeInstanceOf(LockTimeoutError)
    expect(error).toMatchObject({
      ...asked,
      dialect: stage.name,
      timeoutMs: 60,
      waitedMs: expect.any(Number),
    })
  }

  /** On a slow machine the reason may follow: no connection, no answer. */
  const says = (error: unknown, sentence: string): void => {
    expect((error as Error).message.split(': ')[0]).toBe(sentence)
  }

  const isHeld = (error: unknown, asked: RefusedLock): void => {
    expect(error).toBeInstanceOf(LockNotAvailableError)
    expect(error).toMatchObject({ ...asked, dialect: stage.name, waitedMs: expect.any(Number) })
    expect(error).not.toHaveProperty('timeoutMs')
  }

  test('withLock', async () => {
    const { locks } = stage.entry
    const slow = await whileHeld(holdName, () => locks.withLock(key, async () => {}, limited))
    isSlow(slow, { key, mode: 'exclusive' })
    says(slow, 'lock ["report",7] not acquired within 60 ms')
    const held = await whileHeld(holdName, () => locks.withLock(key, async () => {}, { wait: 'nowait' }))
    isHeld(held, { key, mode: 'exclusive' })
    expect(held).toHaveProperty('message', 'lock ["report",7] not acquired: another holder has it')
  })

  test('withLocks', async () => {
    const { locks } = stage.entry
    const keys = ['stock', key]
    const slow = await whileHeld(holdName, () => locks.withLocks(keys, async () => {}, limited))
    expect(slow).toBeInstanceOf(LockTimeoutError)
    says(slow, 'locks "stock", ["report",7] not acquired within 60 ms')
    expect(slow).toHaveProperty('key', keys)
  })

  test('acquire', async () => {
    const { locks } = stage.entry
    const hold = async (until: () => Promise<void>): Promise<void> => {
      const held = await locks.acquire(key)
      await until().finally(() => held.release())
    }
    const slow = await whileHeld(hold, () => locks.acquire(key, limited))
    isSlow(slow, { key, mode: 'exclusive' })
    says(slow, 'lock ["report",7] not acquired within 60 ms')
    const held = await whileHeld(hold, () => locks.acquire(key, { wait: 'nowait' }))
    isHeld(held, { key, mode: 'exclusive' })
    expect(held).toHaveProperty('message', 'lock ["report",7] not acquired: another holder has it')
  })

  test('lease', async () => {
    const { locks } = stage.entry
    const hold = async (until: () => Promise<void>): Promise<void> => {
      const lease = await locks.lease(key, { ttlMs: 60_000 })
      await until().finally(() => lease.release())
    }
    const slow = await whileHeld(hold, () => locks.lease(key, { ttlMs: 60_000, ...limited }))
    isSlow(slow, { key })
    says(slow, 'lease ["report",7] not acquired within 60 ms')
    const held = await whileHeld(hold, () => locks.lease(key, { ttlMs: 60_000, wait: 'nowait' }))
    isHeld(held, { key })
    expect(held).toHaveProperty('message', 'lease ["report",7] not acquired: another holder has it')
  })

  // there the database is one lock, which a transaction has from its beginning
  test.skipIf(stage.name === 'sqlite')('rows', async () => {
    const { locks } = stage.entry
    const target = counterOf(stage.name)
    const hold = (until: () => Promise<void>): Promise<unknown> =>
      locks.transaction(async (tx) => {
        await locks.rows(tx, target)
        await until()
      })
    const slow = await whileHeld(hold, () => locks.transaction((tx) => locks.rows(tx, target, limited)))
    isSlow(slow, { table: 'counter', mode: 'exclusive' })
    says(slow, 'row lock on "counter" not acquired within 60 ms')
    const held = await whileHeld(hold, () =>
      locks.transaction((tx) => locks.rows(tx, target, { wait: 'nowait' })),
    )
    isHeld(held, { table: 'counter', mode: 'exclusive' })
    expect(held).toHaveProperty('message', 'row lock on "counter" not acquired: another holder has it')
    const ended = await whileHeld(hold, () =>
      locks.transaction((tx) => locks.rows(tx, target), { lockTimeoutMs: 60 }),
    )
    isSlow(ended, { table: 'counter', mode: 'exclusive' })
    says(ended, 'row lock on "counter" not acquired within 60 ms (lockTimeoutMs)')
  })
})
