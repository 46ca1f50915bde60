import { subscribe, unsubscribe } from 'node:diagnostics_channel'

import { expect, test } from 'vitest'

import { LockUsageError, UnsupportedLockError } from '../../src/core/errors.ts'
import type { LockEvent } from '../../src/events/shapes.ts'
import type { TablesOption } from '../../src/locks/table/options.ts'
import { watchOrder, type OrderReport } from '../../src/entries/watch.ts'
import { addTo, describeWays, rejection } from './ways.ts'

const mistakes: readonly (readonly [string, unknown, string])[] = [
  ['no table', [], 'tables'],
  ['a number', 5, 'tables'],
  ['a table twice', ['aa', { table: 'aa', mode: 'shared' }], 'tables'],
  ['a field that is not known', { table: 'aa', mod: 'shared' }, 'tables.mod'],
  ['a level of its own', { table: 'aa', isolation: 'serializable' }, 'tables.isolation'],
  ['waits that differ', [{ table: 'aa', wait: 'nowait' }, 'bb'], 'wait'],
  ['a wait that skips', { table: 'aa', wait: 'skip' }, 'wait'],
  ['a shared lock against readers', { table: 'aa', mode: 'shared', blockReaders: true }, 'blockReaders'],
]

describeWays(
  (way) => {
    test.each(mistakes)('%s is refused at the door', async (_, tables, field) => {
      const { locks } = await way.open(1)
      let isRun = false
      const work = async (): Promise<void> => void (isRun = true)
      const error = await rejection(locks.transaction(work, { tables: tables as TablesOption }))
      expect(error).toBeInstanceOf(LockUsageError)
      expect((error as LockUsageError).field).toBe(field)
      expect(isRun).toBe(false)
    })

    test('what the transaction has from its beginning is not taken again, and its receipt says what it is', async () => {
      const { locks } = await way.open(1)
      const tables = ['aa', { table: 'bb', mode: 'shared' }] as const
      const granted = await locks.transaction(
        async (tx) => {
          const first = await locks.table(tx, 'aa')
          return [first.granted, (await locks.table(tx, 'aa', { mode: 'shared' })) === first, first.category]
        },
        { tables },
      )
      expect(granted).toEqual(['exclusive', true, 'table'])
    })

    test('a part of a transaction has no tables that the transaction has not', async () => {
      const { locks } = await way.open(1)
      const inner = (tables: TablesOption): Promise<string> =>
        locks.transaction(async () => 'run', { nested: 'join', tables })
      const outer = locks.transaction(
        async () => [await inner('aa'), await rejection(inner({ table: 'bb', mode: 'shared' }))],
        { tables: 'aa' },
      )
      const [ran, error] = await outer
      expect(ran).toBe('run')
      expect(error).toMatchObject({ name: 'LockUsageError', field: 'tables' })
    })

    test('a named lock and tables are held together, and both are free afterwards', async () => {
      const { locks } = await way.open(1)
      const work = async (tx: object): Promise<string> => (await locks.table(tx, 'aa')).granted
      for (const key of ['together', 'together'])
        expect(await locks.withLock(key, work, { tables: 'aa' })).toBe('exclusive')
    })

    test('tells that each table is asked for, granted and given up', async () => {
      const { locks } = await way.open(1)
      const seen: (readonly [string, string | undefined, string, string | undefined])[] = []
      const hear = (message: unknown): void => {
        const { kind, table, mode, outcome } = message as LockEvent
        seen.push([kind, table, mode, outcome])
      }
      const ended: (string | undefined)[] = []
      const hearEnd = (message: unknown): void => void ended.push((message as LockEvent).table)
      subscribe('tracing:holdfast:lock:asyncEnd', hear)
      subscribe('holdfast:lock:ended', hearEnd)
      try {
        await locks.transaction(async () => expect(ended).toEqual([]), {
          tables: ['bb', { table: 'aa', mode: 'shared' }],
        })
      } finally {
        unsubscribe('tracing:holdfast:lock:asyncEnd', hear)
        unsubscribe('holdfast:lock:ended', hearEnd)
      }
      expect(seen).toEqual([
        ['table', 'aa', 'shared', 'granted'],
        ['table', 'bb', 'exclusive', 'granted'],
      ])
      expect(new Set(ended)).toEqual(new Set(['aa', 'bb']))
    })
  },
  ['postgres', 'mysql', 'sqlite'],
)

describeWays(
  (way) => {
    test.each(['repeatable read', 'serializable'] as const)(
      'at %s a table is not locked inside: the transaction may have read before',
      async (isolation) => {
        const { locks } = await way.open(1)
        const inside = locks.transaction((tx) => locks.table(tx, 'aa'), { isolation })
        const error = await rejection(inside)
        expect(error).toBeInstanceOf(UnsupportedLockError)
        expect((error as UnsupportedLockError).instead).toContain('tables')
      },
    )

    test('a refused table leaves the transaction usable, with a savepoint', async () => {
      const [client, other] = [await way.open(1), await way.open(1)]
      await other.locks.transaction(
        async () => {
          await client.locks.transaction(async (tx) => {
            const asked = client.locks.table(tx, 'bb', { wait: 'nowait', savepoint: true })
            const error = await asked.catch((refusal: unknown) => refusal)
            expect(error).toMatchObject({ name: 'LockNotAvailableError', table: 'bb', mode: 'exclusive' })
            await addTo(client, tx, 'aa')
          })
        },
        { tables: 'bb' },
      )
    })

    test('the limit of one wait ends with it, also where the transaction has another', async () => {
      const client = await way.open(1)
      const limit = { sql: "SELECT current_setting('lock_timeout') AS lock_timeout", params: [] }
      const limits: unknown[] = []
      const tables = { table: 'aa', wait: { timeoutMs: 3000 } } as const
      const note = async (tx: object): Promise<unknown> =>
        limits.push((await client.run(tx, limit))[0]?.lock_timeout)
      await client.locks.transaction(note, { tables })
      await client.locks.transaction(note, { tables, lockTimeoutMs: 7000 })
      const above = client.locks.transaction(note, { tables, isolation: 'repeatable read' })
      expect(await rejection(above)).toMatchObject({ name: 'LockUsageError', field: 'wait' })
      expect(limits).toEqual(['0', '7s'])
    })

    test('opposite orders of tables are seen', async () => {
      const { locks } = await way.open(1)
      const reports: OrderReport[] = []
      const watch = watchOrder({ onCycle: (report) => reports.push(report) })
      for (const order of [
        ['aa', 'bb'],
        ['bb', 'aa'],
      ] as const) {
        await locks.transaction(async (tx) => {
          for (const table of order) await locks.table(tx, table)
        })
      }
      watch.stop()
      expect(reports.map(({ message }) => message)).toEqual([expect.stringMatching(/aa.*bb/)])
    })
  },
  ['postgres'],
)
