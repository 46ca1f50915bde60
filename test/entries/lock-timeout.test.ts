import type { PoolClient } from 'pg'
import type { TransactionSql } from 'postgres'
import { expect, test } from 'vitest'

import { LockTimeoutError } from '../../src/core/errors.ts'
import type { WithLockOptions } from '../../src/locks/named/lock-options.ts'
import { caught, describeEntries, gate, type Stage } from './stage.ts'
import { subjects } from './subject.ts'

/*
 * `lockTimeoutMs` is the limit of every lock that has no time of its own, also of those of which the server's setting knows
 * nothing: named locks of MySQL and MariaDB, and those that PostgreSQL takes before BEGIN.
 */
describeEntries((stage) => {
  /** Holds the lock through other connections: in one process callers take turns. */
  async function whileHeld(key: string, work: () => Promise<void>): Promise<void> {
    const connect = subjects.find(({ engines }) => engines.includes(stage.name))?.connect
    if (connect === undefined) throw new Error(`no way into ${stage.name}`)
    const other = await connect(stage.engine.server.url)
    const [held, ending] = [gate(), gate()]
    const holding = other.locks.withLock(key, async () => {
      held.open()
      await ending.opened
    })
    await held.opened
    try {
      await work()
    } finally {
      ending.open()
      await holding
      await other.close()
    }
  }

  function expectLimit(error: unknown): void {
    expect(error).toBeInstanceOf(LockTimeoutError)
    expect(error).toMatchObject({
      timeoutMs: 300,
      message: expect.stringContaining('not acquired within 300 ms (lockTimeoutMs)') as unknown,
    })
  }

  test.for(optionsOn(stage))('a named lock is waited for no longer than lockTimeoutMs, with %j', (more) =>
    whileHeld('limited', async () => {
      const { locks } = stage.entry
      const options = { lockTimeoutMs: 300, ...more }
      const asking = [
        locks.withLock('limited', async () => {}, options),
        locks.withLocks(['free', 'limited'], async () => {}, options),
      ]
      for (const error of await Promise.all(asking.map(caught))) expectLimit(error)
    }),
  )

  test('the wait for the turn of another call in this process is a part of it', () =>
    whileHeld('limited', async () => {
      const { locks } = stage.entry
      const ending = new AbortController()
      const before = caught(locks.withLock('limited', async () => {}, { signal: ending.signal }))
      expectLimit(await caught(locks.withLock('limited', async () => {}, { lockTimeoutMs: 300 })))
      ending.abort(new Error('for the test'))
      expect(await before).toBe(ending.signal.reason)
    }))

  test.runIf(stage.name === 'postgres')('and is no part of the limit of the locks that follow', async () => {
    const { locks } = stage.entry
    const [held, ending] = [gate(), gate()]
    const before = locks.withLock('limited', async () => {
      held.open()
      await ending.opened
    })
    await held.opened
    const ask = 'show lock_timeout'
    const limitOf = async (tx: unknown): Promise<unknown> =>
      typeof tx === 'function'
        ? (tx as TransactionSql).unsafe(ask)
        : (await (tx as PoolClient).query(ask)).rows
    const after = locks.withLock('limited', limitOf, { lockTimeoutMs: 60_000 })
    ending.open()
    await before
    expect(await after).toMatchObject([{ lock_timeout: '1min' }])
  })

  // where a transaction sees what was there when it began, such a lock is refused
  test.runIf(canJoin(stage))('nor is one that the work asks for', () =>
    whileHeld('limited', async () => {
      const { locks } = stage.entry
      const options = { lockTimeoutMs: 300, isolation: 'read committed' } as const
      const inside = locks.transaction((tx) => locks.lock(tx, 'limited'), options)
      expectLimit(await caught(inside))
      const joined = locks.transaction(
        () => locks.withLock('limited', async () => {}, { nested: 'join' }),
        options,
      )
      expectLimit(await caught(joined))
    }),
  )
})

function optionsOn({ name }: Stage): readonly WithLockOptions[] {
  const levels = name === 'postgres' ? [{ isolation: 'repeatable read' }, { isolation: 'serializable' }] : []
  return [{}, { wait: 'block' }, { budgetMs: 3_600_000 }, ...(levels as readonly WithLockOptions[])]
}

function canJoin({ name }: Stage): boolean {
  return ['postgres', 'mysql', 'mariadb'].includes(name)
}
