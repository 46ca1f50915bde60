import { isDeepStrictEqual } from 'node:util'

import { LockUsageError } from '../../core/errors.ts'
import type { Receipt } from '../../core/receipt.ts'
import type { RowOptions } from '../../locks/rows/rows.ts'
import { boasts, keepsSilent, locksAsAsked } from '../controls/row-calls.ts'
import { defineLaw, type Law } from '../law.ts'
import { session } from '../session-steps.ts'
import type { Stage } from '../stage.ts'
import { describeValue } from '../trace.ts'
import { moreThanRows, noQueue } from './row-facts.ts'

const a = session('a')

/** What a call for row locks promises besides the exclusion. */
export const rowCallLaws: readonly Law[] = [
  defineLaw({
    id: 'R14',
    says: 'Rows locked by one call come in key order, whatever order they were named in.',
    features: ['row-exclusive'],
    rows: { 1: 10, 2: 20, 3: 30 },
    schedule: [a.begin(), a.lockRow([3, 1, 2]).sees([10, 20, 30]), a.commit()],
    control: locksAsAsked,
  }),
  defineLaw({
    id: 'R15',
    says: 'Two calls that name the same rows in opposite orders do not deadlock.',
    features: ['row-exclusive'],
    rows: { 1: 10, 2: 20 },
    unless: (facts) => moreThanRows(facts) ?? noQueue(facts),
    trial: inOppositeOrders,
    control: locksAsAsked,
  }),
  defineLaw({
    id: 'R16',
    says: 'Row locks are refused in a transaction that has ended.',
    features: ['row-exclusive'],
    rows: { 1: 10 },
    trial: afterTheEnd,
    control: keepsSilent,
  }),
  defineLaw({
    id: 'R17',
    says: 'The receipt says which lock was really taken, as the dialect declares it.',
    features: ['row-exclusive', 'row-shared'],
    rows: { 1: 10 },
    trial: receipts,
    control: boasts,
  }),
]

/** Both wait for the first row, one after the other, before either can have both. */
async function inOppositeOrders(stage: Stage): Promise<void> {
  const holder = await stage.actor('a')
  await holder.perform({ verb: 'begin' })
  await stage.note('a', 'lock row 1', holder.perform({ verb: 'lock-row', ids: 1 }))
  const running: Promise<unknown>[] = []
  for (const [name, ids] of [
    ['b', [1, 2]],
    ['c', [2, 1]],
  ] as const) {
    const { locks } = await stage.client(name)
    const target = stage.facts.tools.fixture.target(stage.table, ids)
    const does = `lock row ${ids.join(', ')}`
    const work = stage.note(
      name,
      does,
      locks.transaction((tx) => locks.rows(tx, target), { attempts: 1, signal: stage.signal }),
    )
    await stage.untilWaiting(`${name}: ${does}`, work, running.push(work))
  }
  await stage.note('a', 'commit', holder.perform({ verb: 'commit' }))
  await Promise.all(running)
}

async function afterTheEnd(stage: Stage): Promise<void> {
  const { locks } = await stage.client('a')
  const ended = await locks.transaction(async (tx) => ({ tx }))
  const asking = locks.rows(ended.tx, stage.facts.tools.fixture.target(stage.table, 1))
  const error = await stage.note('a', 'lock row 1 after the end', asking).then(
    () => undefined,
    (refusal: unknown) => refusal,
  )
  stage.expect(
    error instanceof LockUsageError,
    `a: lock row 1 after the end: ${error === undefined ? 'went through' : describeValue(error)}`,
  )
}

const asked: readonly RowOptions[] = [
  {},
  { mode: 'shared' },
  { wait: 'nowait' },
  { wait: { timeoutMs: 2000 } },
  { mode: 'shared', wait: { timeoutMs: 2000 } },
]

type Told = Omit<Receipt, 'asked' | 'granted' | 'statements' | 'waitedMs'>

async function receipts(stage: Stage): Promise<void> {
  const { locks } = await stage.client('a')
  const target = stage.facts.tools.fixture.target(stage.table, 1)
  for (const options of asked) {
    const { mode = 'exclusive' } = options
    const plan = stage.facts.plan(mode === 'shared' ? 'row-shared' : 'row-exclusive', { ...options, target })
    if (plan === undefined) continue
    const taking = locks.transaction(async (tx) => (await locks.rows(tx, target, options)).receipt)
    const receipt = await stage.note('a', `lock row 1 ${JSON.stringify(options)}`, taking)
    const { dialect, category, scope, support } = plan
    const told: Told = { dialect, category, scope, support, granularity: support.granularity }
    const { statements, waitedMs, ...said } = receipt
    stage.expect(
      isDeepStrictEqual(said, { ...told, asked: mode, granted: plan.mode }),
      `the receipt says ${JSON.stringify(said)}, and the dialect ${JSON.stringify(told)}`,
    )
    stage.expect(statements.length > 0 && waitedMs >= 0, 'the receipt names no statement that took the lock')
  }
}
