import { expect, test } from 'vitest'

import { LockLostError, LockUsageError } from '../../src/core/errors.ts'
import type { LockKey } from '../../src/core/key.ts'
import { rawHashtextKey, rawInt32PairKey, rawInt64Key, rawNameKey } from '../../src/core/raw-key.ts'
import type { WithLockOptions } from '../../src/locks/named/lock-options.ts'
import { caught, describeEntries, gate, type Stage } from './stage.ts'

describeEntries(specs)

/** The engine's own forms of a key. */
const rawKeys: Readonly<Record<string, readonly LockKey[]>> = {
  postgres: [rawInt64Key(-5n), rawInt32PairKey(1, -2), rawHashtextKey("it's")],
  mysql: [rawNameKey("it's")],
  mariadb: [rawNameKey("it's")],
}

function specs(stage: Stage): void {
  /** Runs `meanwhile` while a lock is held. */
  async function whileHeld<T>(
    key: LockKey,
    meanwhile: () => Promise<T>,
    options: WithLockOptions = {},
  ): Promise<T> {
    const [began, ending] = [gate(), gate()]
    const holder = stage.entry.locks.withLock(
      key,
      async () => {
        began.open()
        await ending.opened
      },
      options,
    )
    await Promise.race([began.opened, holder])
    try {
      return await meanwhile()
    } finally {
      ending.open()
      await holder
    }
  }

  test('a shared lock lets others share it where the engine can, and says so where it cannot', async () => {
    const { locks } = stage.entry
    const shared: WithLockOptions = { mode: 'shared' }
    const granted = await locks.withLock('modes', async (_, { receipt }) => receipt.granted, shared)
    expect(granted).toBe(stage.name === 'postgres' ? 'shared' : 'exclusive')
    const [sharing, alone] = await whileHeld(
      'modes',
      async () => [
        await locks.tryLock('modes', async () => 'in', shared),
        await locks.tryLock('modes', async () => 'in'),
      ],
      shared,
    )
    expect(sharing).toEqual(granted === 'shared' ? { acquired: true, value: 'in' } : { acquired: false })
    expect(alone).toEqual({ acquired: false })
  })

  test.skipIf(rawKeys[stage.name] === undefined)("keys in the engine's own form exclude too", async () => {
    const { locks } = stage.entry
    for (const key of rawKeys[stage.name] ?? []) {
      const busy = await whileHeld(key, () => locks.tryLock(key, async () => 'in'))
      expect(busy).toEqual({ acquired: false })
      expect(await locks.tryLock(key, async () => 'in')).toEqual({ acquired: true, value: 'in' })
    }
  })

  test.skipIf(stage.name === 'sqlite' || stage.name === 'duckdb' || stage.name === 'mongodb')(
    'the work is told when the connection that holds its lock breaks',
    async () => {
      const { locks, kill } = stage.entry
      let told: AbortSignal | undefined
      const work = locks.withLock(
        'broken',
        async (tx, { signal }) => {
          told = signal
          const lost = new Promise((resolve) => {
            signal.addEventListener('abort', resolve)
          })
          await kill(tx, stage.engine)
          await lost
          throw signal.reason
        },
        { attempts: 1 },
      )
      expect(await caught(work)).toBeInstanceOf(LockLostError)
      expect(told?.aborted).toBe(true)
      expect(await locks.tryLock('broken', async () => 'in')).toEqual({ acquired: true, value: 'in' })
    },
  )

  test('bad keys and options are refused before anything is sent', async () => {
    const { locks } = stage.entry
    const bad: readonly unknown[] = [
      '',
      [],
      [''],
      null,
      undefined,
      1.5,
      {},
      true,
      'x'.repeat(1_000_000),
      '\uD800',
    ]
    for (const name of bad) {
      const error = await caught(locks.withLock(name as LockKey, async () => {}))
      expect(error).toBeInstanceOf(LockUsageError)
      expect((error as Error).message.length).toBeLessThan(300)
    }
    const options = [
      { wait: 'skip' },
      { mode: 'both' },
      { wait: { timeoutMs: 0 } },
      { reentry: 'yes' },
      { ttl: 1 },
    ]
    for (const option of options) {
      const error = await caught(locks.withLock('fine', async () => {}, option as WithLockOptions))
      expect(error).toBeInstanceOf(LockUsageError)
    }
    expect(await caught(locks.withLocks([], async () => {}))).toBeInstanceOf(LockUsageError)
  })

  test('keys that differ in case are two, and two spellings of one text are one', async () => {
    const { locks } = stage.entry
    await whileHeld('caf\u00e9', async () => {
      // SQLite has one writer, whatever the key
      if (stage.name !== 'sqlite')
        expect(await locks.tryLock('CAF\u00c9', async () => 'in')).toEqual({ acquired: true, value: 'in' })
      expect(await locks.tryLock('cafe\u0301', async () => 'in')).toEqual({ acquired: false })
    })
  })
}
