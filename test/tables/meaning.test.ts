import { expect, test } from 'vitest'

import type { TableLock } from '../../src/locks/table/options.ts'
import type { EngineSession } from '../engines/engine.ts'
import { describeWays, type Way } from './ways.ts'

/** What others want to do with the table, as the page docs/table-locks.md has it. */
const wishes = {
  read: 'SELECT n FROM aa WHERE id = 1',
  write: 'UPDATE aa SET n = n + 1 WHERE id = 1',
  lockRows: 'SELECT n FROM aa WHERE id = 1 FOR UPDATE',
}

/** So that who is kept out is told, and does not wait for ever. */
const limits: Readonly<Record<string, readonly string[]>> = {
  postgres: ["SET lock_timeout = '300ms'"],
  mysql: ['SET SESSION lock_wait_timeout = 1, SESSION innodb_lock_wait_timeout = 1'],
  mariadb: ['SET SESSION lock_wait_timeout = 1, SESSION innodb_lock_wait_timeout = 1'],
}

type Kept = Readonly<Record<keyof typeof wishes, 'passes' | 'waits'>>

async function whoWaits(way: Way, lock: Omit<TableLock, 'table'>): Promise<Kept> {
  const { locks } = await way.open(1)
  return locks.transaction(
    async () => {
      const found: Partial<Record<keyof Kept, 'passes' | 'waits'>> = {}
      for (const [wish, sql] of Object.entries(wishes)) {
        const session = await way.context.engine.open()
        for (const limit of limits[way.context.name] ?? []) await session.run({ sql: limit, params: [] })
        found[wish as keyof Kept] = await outcomeOf(session, sql)
        await session.close()
      }
      return found as Kept
    },
    { tables: { ...lock, table: 'aa' } },
  )
}

/** Only what is refused for the lock's sake is kept out. */
async function outcomeOf(session: EngineSession, sql: string): Promise<'passes' | 'waits'> {
  try {
    await session.run({ sql, params: [] })
    return 'passes'
  } catch (error) {
    expect(String(error)).toMatch(/lock timeout|Lock wait timeout/)
    return 'waits'
  }
}

const all: Kept = { read: 'waits', write: 'waits', lockRows: 'waits' }

const meant: Readonly<
  Record<string, readonly { readonly lock: Omit<TableLock, 'table'>; readonly kept: Kept }[]>
> = {
  postgres: [
    { lock: {}, kept: { ...all, read: 'passes' } },
    { lock: { blockReaders: true }, kept: all },
    { lock: { mode: 'shared' }, kept: { read: 'passes', write: 'waits', lockRows: 'passes' } },
  ],
  mysql: [
    { lock: {}, kept: all },
    { lock: { blockReaders: true }, kept: all },
    { lock: { mode: 'shared' }, kept: { ...all, read: 'passes' } },
  ],
}

describeWays(
  (way) => {
    const { name } = way.context
    const cases = meant[name === 'mariadb' ? 'mysql' : name] ?? []

    test.each(cases)('with $lock of others is kept out what the docs say: $kept', async ({ lock, kept }) => {
      expect(await whoWaits(way, lock)).toEqual(kept)
    })
  },
  ['postgres', 'mysql', 'mariadb'],
)
