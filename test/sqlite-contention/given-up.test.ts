import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'

import { LockTimeoutError } from '../../src/core/errors.ts'
import { createLocks } from '../../src/entries/better-sqlite3.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-given-up-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

test.each(['a handle of the application', 'handles of its own'])(
  'who has given up for its budget takes nothing when the writer has ended, with %s',
  async (source) => {
    const file = join(folder, 'data.db')
    const writer = new Database(file)
    const begins: string[] = []
    const open = (): Database.Database =>
      new Database(file, {
        verbose: (text) => void (String(text).startsWith('BEGIN') && begins.push('BEGIN')),
      })
    const shared = source === 'handles of its own' ? undefined : open()
    const locks = createLocks(shared ?? open)
    writer.exec('BEGIN IMMEDIATE')
    const refused = locks.withLock('q', async () => {}, { budgetMs: 30 })
    await expect(refused).rejects.toThrow(LockTimeoutError)
    await expect(refused).rejects.toThrow(/within 30 ms \(budgetMs\)/)
    const tries = begins.length
    expect(tries).toBeGreaterThan(0)
    writer.exec('ROLLBACK')
    // it tried again every five milliseconds at the most: in twenty of these a try would be seen
    for (let round = 0; round < 20; round += 1) await pause(5)
    expect(begins).toHaveLength(tries)
    expect(shared?.inTransaction).not.toBe(true)
    expect(await locks.withLock('q', async () => 'free')).toBe('free')
    shared?.close()
    writer.close()
  },
)
