import { expect, test } from 'vitest'

import type { Locks } from '../../src/locks.ts'
import { describeEntries, gate } from './stage.ts'
import { counterOf } from './subject.ts'

// those whose rows can be skipped
describeEntries(
  (stage) => {
    test('a shared lock that skips gives what nobody has, and waits for nobody', async () => {
      const locks = stage.entry.locks as unknown as Locks<unknown, 'postgres'>
      const target = counterOf(stage.name)
      const [began, ending] = [gate(), gate()]
      const holder = locks.transaction(async (tx) => {
        await locks.rows(tx, target)
        began.open()
        await ending.opened
      })
      await Promise.race([began.opened, holder])
      // the limit is for a lock that waits all the same
      const skip = (): Promise<readonly unknown[]> =>
        locks.transaction(
          async (tx) => [...(await locks.rows(tx, target, { mode: 'shared', wait: 'skip' }))],
          { lockTimeoutMs: 5000 },
        )
      const whileHeld = await skip().finally(ending.open)
      await holder
      expect(whileHeld).toEqual([])
      expect(await skip()).toHaveLength(1)
    })
  },
  ['better-sqlite3', 'duckdb', 'mongodb'],
)
