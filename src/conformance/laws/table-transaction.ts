import { UnsupportedLockError } from '../../core/errors.ts'
import type { Isolation } from '../../core/request.ts'
import { unlocked } from '../controls.ts'
import { locksTablesAsNamed } from '../controls/table-calls.ts'
import { leavesTablesUnlocked } from '../controls/row-modes.ts'
import { cutterOf } from '../cut.ts'
import type { Facts } from '../facts.ts'
import { defineLaw, type Law } from '../law.ts'
import type { Stage } from '../stage.ts'
import { intruder, waiter, whileLocked } from '../table-holder.ts'
import { describeValue } from '../trace.ts'
import { rejectionOf } from '../writer.ts'
import { noKill } from './row-facts.ts'

/** Whether the lock can be taken by a transaction that is under way. */
const isInside = ({ plan }: Facts): boolean => (plan('table')?.inTransaction.length ?? 0) > 0

const levels = ['read committed', 'repeatable read', 'snapshot', 'serializable'] as const

/** What the lock is for: whoever has waited for the table must not go on with what was there before the wait. */
function freshAt(isolation: Isolation, id: string): Law {
  return defineLaw({
    id,
    says: `At ${isolation}, a transaction that has waited for a table sees what its last holder committed.`,
    features: ['table'],
    rows: { 1: 10 },
    trial: async (stage) => {
      const { fixture } = stage.facts.tools
      const { run } = await stage.client('a')
      const late = await stage.client('b')
      const options = { isolation }
      const reader = await whileLocked(stage, { by: 'a', options }, async (tx) => {
        const work = whileLocked(stage, { by: 'b', options }, (inner) =>
          late.run(inner, fixture.read(stage.table, 1)),
        )
        const waiting = waiter(stage, { name: 'b', does: 'lock the table and read it', work })
        await waiting.untilWaiting()
        await run(tx, fixture.write(stage.table, 1, 11))
        return waiting
      })
      const rows = (await reader.done) as readonly { readonly n?: unknown }[]
      stage.expect(Number(rows[0]?.n) === 11, `b: read ${describeValue(rows[0]?.n)}, not 11`)
    },
    control: unlocked,
  })
}

/** What becomes of the transaction that has locked tables. */
export const tableTransactionLaws: readonly Law[] = [
  defineLaw({
    id: 'B6',
    says: 'Inside of a transaction a table is locked until its end, or refused where that must come before.',
    features: ['table'],
    rows: { 1: 10 },
    trial: (stage) => (isInside(stage.facts) ? lockInside(stage) : refuseInside(stage)),
    control: leavesTablesUnlocked,
  }),
  defineLaw({
    id: 'B7',
    says: 'A transaction that has locked a table and fails stores nothing, and leaves the table to others.',
    features: ['table'],
    rows: { 1: 10 },
    trial: failing,
    control: unlocked,
  }),
  defineLaw({
    id: 'B8',
    says: 'A transaction whose connection dies releases its tables.',
    features: ['table'],
    rows: { 1: 10 },
    unless: noKill,
    trial: dying,
    control: unlocked,
  }),
  defineLaw({
    id: 'B9',
    says: 'Two transactions that name the same tables in opposite orders do not deadlock.',
    features: ['table'],
    rows: { 1: 10 },
    unless: (facts) => (isInside(facts) ? undefined : 'all tables are locked at once here'),
    trial: inOppositeOrders,
    control: locksTablesAsNamed,
  }),
  ...levels.map((level, index) => freshAt(level, `B${10 + index}`)),
]

async function lockInside(stage: Stage): Promise<void> {
  const { locks } = await stage.client('a')
  await stage.client('b')
  const holding = locks.transaction(
    async (tx) => {
      await locks.table(tx, stage.table)
      const writer = await intruder(stage, 'b', stage.facts.tools.fixture.write(stage.table, 1, 11))
      await writer.untilWaiting()
      return writer
    },
    { signal: stage.signal, attempts: 1, isolation: 'read committed' },
  )
  const { done } = await stage.note('a', 'lock the table inside of a transaction', holding)
  await done
}

async function refuseInside(stage: Stage): Promise<void> {
  const { locks } = await stage.client('a')
  const work = async (tx: object): Promise<unknown> => locks.table(tx, stage.table)
  const late = locks.transaction(work, { attempts: 1, isolation: 'read committed' })
  const asked = stage.note('a', 'lock the table too late', late)
  const error = await rejectionOf('a: lock the table too late', asked)
  stage.expect(
    error instanceof UnsupportedLockError && error.instead.includes('tables'),
    `a: lock the table too late: ${describeValue(error)}`,
  )
  const held = await whileLocked(stage, { by: 'a' }, async (tx) => locks.table(tx, stage.table))
  stage.expect(held.granted === 'exclusive', `a: is told to have the table ${held.granted}`)
}

async function failing(stage: Stage): Promise<void> {
  const { fixture } = stage.facts.tools
  const { run } = await stage.client('a')
  const writing = async (tx: object): Promise<unknown> => run(tx, fixture.write(stage.table, 1, 11))
  const thrown = new Error('the work fails')
  const byError = whileLocked(stage, { by: 'a' }, async (tx) => {
    await writing(tx)
    throw thrown
  })
  const error = await rejectionOf('a: fail', byError)
  stage.expect(error === thrown, `a: fails with ${describeValue(error)}`)
  const stop = new AbortController()
  const byAbort = whileLocked(stage, { by: 'a', options: { signal: stop.signal } }, async (tx) => {
    await writing(tx)
    stop.abort(thrown)
  })
  const reason = await rejectionOf('a: abort', byAbort)
  stage.expect(reason === thrown, `a: ends with ${describeValue(reason)}`)
  await whileLocked(stage, { by: 'b', request: { wait: { timeoutMs: 5000 } } }, async () => {})
  const n = (await stage.committed()).get(1)
  stage.expect(n === 10, `row 1 is ${n}, not 10`)
}

async function dying(stage: Stage): Promise<void> {
  const { fixture } = stage.facts.tools
  const { run } = await stage.client('a')
  await stage.client('b')
  let writer: { readonly done: Promise<unknown> } | undefined
  const holding = whileLocked(stage, { by: 'a' }, async (tx) => {
    const cut = await cutterOf(stage.ground, (statement) => run(tx, statement))
    await run(tx, fixture.write(stage.table, 1, 11))
    const waiting = await intruder(stage, 'b', fixture.add(stage.table, 1, 5))
    writer = waiting
    await waiting.untilWaiting()
    await cut()
  })
  await rejectionOf('a: lose the connection', holding)
  await writer?.done
  const n = (await stage.committed()).get(1)
  stage.expect(n === 15, `row 1 is ${n}, not 15`)
}

/** Both wait for the first table, one after the other, before either can have both. */
async function inOppositeOrders(stage: Stage): Promise<void> {
  const other = await stage.addTable('z', stage.facts.tools.fixture.create)
  const waiting = await whileLocked(stage, { by: 'a' }, async () => {
    const running: Promise<unknown>[] = []
    for (const [name, tables] of [
      ['b', [stage.table, other]],
      ['c', [other, stage.table]],
    ] as const) {
      const { locks } = await stage.client(name)
      const does = `lock ${tables.join(', ')}`
      const locking = locks.transaction(async () => {}, { tables, attempts: 1, signal: stage.signal })
      const work = stage.note(name, does, locking)
      await stage.untilWaiting(`${name}: ${does}`, work, running.push(work))
    }
    return running
  })
  await Promise.all(waiting)
}
