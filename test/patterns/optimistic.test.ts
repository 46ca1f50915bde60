import { expect, test } from 'vitest'

import { LockUsageError, RetryableTransactionError } from '../../src/core/errors.ts'
import type { Isolation } from '../../src/core/request.ts'
import { meetingOf } from '../stories/meeting.ts'
import { balanceIn, versionOf } from './accounts.ts'
import { caught, describePatterns, type Node } from './stage.ts'

const account = { table: 'account', key: { id: 1 } }
const workers = [0, 1, 2, 3]
const rounds = [1, 2, 3, 4, 5]
const patience = { timeout: 600_000 }

/** The levels at which an application may run; a level that an engine has no word for is the next stronger one. */
const levels: Readonly<Record<string, readonly Isolation[]>> = {
  postgres: ['read committed', 'repeatable read', 'serializable'],
  mysql: ['read uncommitted', 'read committed', 'repeatable read', 'serializable'],
  mariadb: ['read uncommitted', 'read committed', 'repeatable read', 'serializable'],
}

describePatterns(
  (stage) => {
    const state = async (id = 1): Promise<readonly [number, number]> => {
      const rows = await stage.run(stage.sql.read(id))
      return [balanceIn(rows), versionOf(rows)]
    }
    const inTx = <T>(work: (node: Node, tx: unknown) => Promise<T>, attempts = 1): Promise<T> => {
      const node = stage.node()
      return node.meeting.shared.transaction((tx) => work(node, tx), { attempts })
    }

    test('a change from the expected version is made, and gives the next version', async () => {
      const next = await inTx((node, tx) =>
        node.updateVersioned(tx, { ...account, version: 'version', expected: 0, set: { balance: 7 } }),
      )
      expect(next).toBe(1)
      expect(await state()).toEqual([7, 1])
      expect(await inTx((node, tx) => node.updateVersioned(tx, { ...account, expected: '1', set: {} }))).toBe(
        2,
      )
      expect(await inTx((node, tx) => node.updateVersioned(tx, { ...account, expected: 2n, set: {} }))).toBe(
        3,
      )
      expect(await state()).toEqual([7, 3])
      expect(await state(2), 'other rows stay as they are').toEqual([100, 0])
    })

    test('from another version nothing is changed, and the error says: run the transaction again', async () => {
      const stale = inTx((node, tx) =>
        node.updateVersioned(tx, { ...account, expected: 3, set: { balance: 7 } }),
      )
      const error = await caught(stale)
      expect(error).toBeInstanceOf(RetryableTransactionError)
      expect(error).toMatchObject({ kind: 'write-conflict', isRetryable: true })
      expect(String(error)).toMatch(/account with id = 1 is no longer at version 3/)
      expect(await state()).toEqual([100, 0])
    })

    test('a row that is not there is another error, which is not tried again', async () => {
      let runs = 0
      const missing = inTx((node, tx) => {
        runs += 1
        return node.updateVersioned(tx, {
          table: 'account',
          key: { id: 99 },
          expected: 0,
          set: { balance: 7 },
        })
      }, 3)
      const error = await caught(missing)
      expect(error).toBeInstanceOf(LockUsageError)
      expect(error).toMatchObject({ field: 'key' })
      expect(String(error)).toContain('there is no row account with id = 99')
      expect(runs).toBe(1)
      await expect(
        stage.node().withVersion({ table: 'account', key: { id: 99 } }, async () => ({})),
      ).rejects.toThrow('there is no row')
    })

    test('withVersion gives the row to decide by, writes what was decided, and nothing for undefined', async () => {
      const node = stage.node()
      const next = await node.withVersion(account, async ({ balance }, tx) => {
        expect(balanceIn(await node.run(tx, stage.sql.read(1))), 'tx is the transaction').toBe(
          Number(balance),
        )
        return { balance: Number(balance) + 1 }
      })
      expect(next).toBe(1)
      expect(await node.withVersion(account, async () => undefined)).toBe(1)
      expect(await state()).toEqual([101, 1])
      const broken = node.withVersion(account, async () => Promise.reject(new Error('no decision')))
      await expect(broken).rejects.toThrow('no decision')
      expect(await state()).toEqual([101, 1])
    })

    test('a mistake in the call is named', async () => {
      const change = (update: object): Promise<unknown> =>
        caught(inTx((node, tx) => node.updateVersioned(tx, { ...account, expected: 0, set: {}, ...update })))
      expect(await change({ key: {} })).toMatchObject({ field: 'key' })
      expect(await change({ key: { id: [1, 2] } })).toMatchObject({ field: 'key.id' })
      expect(await change({ key: { id: null } })).toMatchObject({ field: 'key.id' })
      expect(await change({ expected: 1.5 })).toMatchObject({ field: 'expected' })
      expect(await change({ expected: undefined })).toMatchObject({ field: 'expected' })
      expect(await change({ set: { version: 3 } })).toMatchObject({ field: 'set.version' })
      expect(await change({ set: { balance: undefined } })).toMatchObject({ field: 'set.balance' })
      expect(await change({ whatever: 1 })).toMatchObject({ field: 'whatever' })
      expect(await change({ table: '' })).toMatchObject({ field: 'table' })
      const outside = stage.node().updateVersioned({}, { ...account, expected: 0, set: {} })
      await expect(outside).rejects.toMatchObject({ field: 'tx' })
      expect(await state()).toEqual([100, 0])
    })

    test('of two who decided by the same version one is told, also when each wrote another column', async () => {
      const both = meetingOf(2)
      const decide = (node: Node, set: { balance: number } | { label: string }): Promise<number> =>
        node.meeting.shared.transaction(
          async (tx) => {
            const expected = versionOf(await node.run(tx, stage.sql.read(1)))
            // where a transaction that writes is the only one, two of them cannot have read the same
            if (stage.name !== 'sqlite') await both.meet()
            return node.updateVersioned(tx, { ...account, expected, set })
          },
          { attempts: 1 },
        )
      const outcomes = await Promise.allSettled([
        decide(stage.node(0), { balance: 1 }),
        decide(stage.node(1), { label: 'other' }),
      ])
      const lost = outcomes.filter((outcome) => outcome.status === 'rejected')
      if (stage.name === 'sqlite') expect(lost).toEqual([])
      else {
        expect(lost).toHaveLength(1)
        expect(lost[0]?.reason).toBeInstanceOf(RetryableTransactionError)
        const [row] = await stage.run(stage.sql.read(1))
        const isFirst = outcomes[0]?.status === 'fulfilled'
        expect([Number(row?.balance), row?.label]).toEqual(isFirst ? [1, 'a1'] : [100, 'other'])
      }
      expect((await state())[1]).toBe(stage.name === 'sqlite' ? 2 : 1)
    })

    for (const isolation of [undefined, ...(levels[stage.name] ?? [])]) {
      test(
        `no change of four processes is lost at ${isolation ?? 'the default isolation'}`,
        patience,
        async () => {
          const work = async (worker: number): Promise<void> => {
            const node = stage.node(worker)
            for (const _ of rounds) {
              await node.withVersion(account, async ({ balance }) => ({ balance: Number(balance) + 1 }), {
                attempts: 1000,
                ...(isolation && { isolation }),
              })
            }
          }
          await Promise.all(workers.map(work))
          const made = workers.length * rounds.length
          expect(await state()).toEqual([100 + made, made])
        },
      )
    }

    test('the same changes without the version lose some', async () => {
      const all = meetingOf(workers.length)
      const work = async (worker: number): Promise<void> => {
        const node = stage.node(worker)
        const seen = balanceIn(await stage.run(stage.sql.read(1)))
        await all.meet()
        await node.meeting.shared.transaction((tx) => node.run(tx, stage.sql.setBalance(1, seen + 1)), {
          attempts: 1000,
        })
      }
      await Promise.all(workers.map(work))
      expect(await state()).toEqual([101, 0])
    })

    test('changes that were decided outside of the transaction are lost to nobody either', async () => {
      const all = meetingOf(workers.length)
      const work = async (worker: number): Promise<number> => {
        const node = stage.node(worker)
        const rows = await stage.run(stage.sql.read(1))
        await all.meet()
        return node.meeting.shared.transaction(
          (tx) =>
            node.updateVersioned(tx, {
              ...account,
              expected: versionOf(rows),
              set: { balance: balanceIn(rows) + 1 },
            }),
          { attempts: 3 },
        )
      }
      const outcomes = await Promise.allSettled(workers.map(work))
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(RetryableTransactionError)
      expect(await state()).toEqual([101, 1])
    })
  },
  { nodes: workers.length },
)
