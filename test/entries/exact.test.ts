import Database from 'better-sqlite3'
import { expect, test } from 'vitest'

import { createLocks } from '../../src/entries/better-sqlite3.ts'

test('a lock that was given as a stronger one is still refused to who wants it exactly', async () => {
  const db = new Database(':memory:')
  const locks = createLocks(db)
  const inside = async (): Promise<string> => 'in'
  expect(await locks.withLock('a', inside)).toBe('in')
  await expect(locks.withLock('a', inside, { exact: true })).rejects.toMatchObject({
    name: 'UnsupportedLockError',
  })
  expect(await locks.withLock('a', inside)).toBe('in')
  db.close()
})
