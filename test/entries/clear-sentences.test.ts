import Database from 'better-sqlite3'
import { expect, test } from 'vitest'

import type { LockUsageError } from '../../src/core/errors.ts'
import { createLocks } from '../../src/entries/better-sqlite3.ts'
import { caught } from './stage.ts'

const locks = createLocks(new Database(':memory:'))
const nothing = async (): Promise<void> => {}

async function saidBy(call: () => Promise<unknown>): Promise<string> {
  return ((await caught(call())) as LockUsageError).message
}

test('a lock that the call chain has already is named', async () => {
  const key = ['order', 7]
  const said = await locks.withLock(key, (tx) =>
    Promise.all([
      saidBy(() => locks.withLock(key, nothing)),
      saidBy(() => locks.withLocks(['other', key], nothing)),
      saidBy(() => locks.lock(tx, key)),
    ]),
  )
  for (const one of said) expect(one).toContain('already holds the lock ["order",7]')
})

test('a misspelt field of an option is named by its path', async () => {
  const misspelt = [
    ['backoff.basems', { backoff: { basems: 1 } }],
    ['wait.timeoutms', { wait: { timeoutms: 1 } }],
    ['tables.tabel', { tables: { tabel: 'item' } }],
  ] as const
  for (const [path, options] of misspelt)
    expect(await saidBy(() => locks.withLock('k', nothing, options as object))).toContain(
      `${path}: is not a field`,
    )
  const statement = { sql: 'SELECT 1', expect: { row: 1 } }
  const said = await saidBy(() => locks.batch('k', [statement as unknown as { readonly sql: string }]))
  expect(said).toContain('statements[0].expect.row: is not a field')
})

test('a text where a number belongs is shown in quotes', async () => {
  const attempts = '3' as unknown as number
  expect(await saidBy(() => locks.transaction(nothing, { attempts }))).toContain('"3" is not a whole number')
})
