import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { readAnswer } from '../../src/core/statement.ts'
import type { LeaseHeld } from '../../src/dialects/lease.ts'
import type { Lease } from '../../src/locks/lease/lease.ts'
import { registry, type DialectName } from '../../src/registry.ts'
import type { Shop } from '../stories/shop.ts'
import { processes, type Elsewhere } from './elsewhere.ts'
import { describeFaults, rowNames, type Stage } from './stage.ts'

const ttlMs = 1000

// Windows cannot stop a process where it stands
describe.skipIf(process.platform === 'win32')('a process that was stopped', () => {
  describeFaults(
    (stage) => {
      const start = processes(stage)
      let shop: Shop
      let old: LeaseHeld
      let elsewhere: Elsewhere
      let lease: Lease

      /** A holder that was stopped past the end of its lease, and goes on when another has it. */
      beforeEach(async () => {
        shop = await stage.shop()
        await shop.create('entry', ['code', 'amount'])
        elsewhere = await start()
        const key = stage.key()
        const { held } = await elsewhere.tell({ hold: 'lease', key, ttlMs }, 'held')
        if (held === null) throw new Error('a lease has a fence')
        old = { name: rowNames.lease(key), ...held }
        await elsewhere.signal('SIGSTOP')
        lease = await shop.locks.lease(key, { wait: { timeoutMs: 60_000 } })
        await elsewhere.signal('SIGCONT')
      })
      afterEach(async () => {
        await lease.release()
        await shop.drop('entry')
      })
      const stored = async (): Promise<readonly unknown[]> =>
        (await shop.all('entry')).map(({ code }) => code)
      const add = (code: string) => (tx: unknown) => shop.add(tx, 'entry', { code, amount: 1 })

      test('a holder that was stopped for too long sees that it has lost its lease to a higher fence', async () => {
        expect(lease.fence).toBeGreaterThan(old.fence)
        expect(await elsewhere.tell('look', 'isAborted')).toEqual({
          isAborted: true,
          thrown: 'LockLostError',
          remainingMs: 0,
        })
        expect(await stage.leaseOf(old.name)).toMatchObject({ owner: lease.owner, fence: lease.fence })
      })

      test('what it writes under the fence is refused, and what the new holder writes is stored', async () => {
        expect(await elsewhere.tell({ write: 'fenced', code: 'old' }, 'written')).toEqual({
          written: 'LockLostError',
        })
        await shop.locks.fenced(lease, add('new'))
        expect(await stored()).toEqual(['new'])
      })

      test('the database refuses it even where it looks at neither its signal nor its clock', async () => {
        expect(await elsewhere.tell({ write: 'by-database', code: 'old' }, 'written')).toEqual({
          written: 'LockLostError',
        })
        expect(await answerTo(stage, old)).toBe('not-held')
        // the same question, asked for the new holder
        expect(await answerTo(stage, { ...old, owner: lease.owner, fence: lease.fence })).toBe('granted')
        expect(await answerTo(stage, { ...old, owner: lease.owner })).toBe('not-held')
        expect(await stored()).toEqual([])
      })

      test('without the fence, what it writes is stored', async () => {
        await shop.locks.fenced(lease, add('new'))
        expect(await elsewhere.tell({ write: 'unfenced', code: 'old' }, 'written')).toEqual({
          written: 'stored',
        })
        expect(new Set(await stored())).toEqual(new Set(['new', 'old']))
      })
    },
    { withProcesses: true },
  )
})

/** What the guard of a transaction answers to a holder, asked by hand. */
async function answerTo({ name, engine }: Stage, held: LeaseHeld): Promise<string> {
  const { lease, transaction } = registry[name as DialectName]
  const session = await engine.open()
  try {
    await session.begin(transaction.writeMode)
    const statement = lease.guard(held)
    const rows = await session.run(statement)
    await session.rollback()
    return statement.answers === undefined ? 'no answer' : readAnswer(statement.answers, rows)
  } finally {
    await session.close()
  }
}
