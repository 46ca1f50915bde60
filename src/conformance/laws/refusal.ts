import type { Category } from '../../core/category.ts'
import { LockUsageError, UnsupportedLockError } from '../../core/errors.ts'
import type { Session } from '../../core/session.ts'
import { isUnsupported, type Unsupported } from '../../core/support.ts'
import type { RowOptions } from '../../locks/rows/rows.ts'
import { unlocked } from '../controls.ts'
import { callsAllNative, givesWeakerLock } from '../controls/refusal-defects.ts'
import { BrokenLawError } from '../broken-law.ts'
import type { Facts } from '../facts.ts'
import { defineLaw, type Law } from '../law.ts'
import type { Stage } from '../stage.ts'
import type { Fault } from '../subject.ts'
import { describeValue } from '../trace.ts'
import { rejectionOf, writerOf } from '../writer.ts'

const isThere =
  (category: Category) =>
  ({ support }: Facts): string | undefined =>
    isUnsupported(support(category)) ? undefined : 'this lock can be had here'

function refusalOf({ support }: Facts, category: Category): Unsupported {
  const declared = support(category)
  if (isUnsupported(declared)) return declared
  throw new TypeError(`${category} is not refused here`)
}

function expectRefusal(stage: Stage, error: unknown, declared?: Unsupported): void {
  if (!(error instanceof UnsupportedLockError)) {
    throw new BrokenLawError(`refused with ${describeValue(error)}`, { cause: error })
  }
  const { reason, instead } = error
  stage.expect(reason !== '' && instead !== '', 'the refusal does not say why, or what to use instead')
  if (declared === undefined) return
  stage.expect(reason === declared.reason, `the reason is ${reason}, not ${declared.reason}`)
  stage.expect(instead === declared.instead, `the way out is ${instead}, not ${declared.instead}`)
}

/** A wire on which statements are counted. */
function counting(): { readonly fault: Fault; readonly count: () => number } {
  let sent = 0
  const fault: Fault = (session) => {
    const run: Session['run'] = (statement) => {
      sent += 1
      return session.run(statement)
    }
    return Object.create(session, { run: { value: run } }) as Session<object>
  }
  return { fault, count: () => sent }
}

/** Asks for a lock on a row that must be refused, sends nothing for it, and leaves the transaction as good as before. */
async function refuseRow(stage: Stage, options: RowOptions, declared?: Unsupported): Promise<void> {
  const { fault, count } = counting()
  const { client, transaction, write } = await writerOf(stage, 'a', fault)
  const target = stage.facts.tools.fixture.target(stage.table, 1)
  await transaction('ask for a lock that cannot be had, and go on without it', async (tx) => {
    const before = count()
    const asked = client.locks.rows(tx, target, options)
    expectRefusal(stage, await rejectionOf('a lock that cannot be had', asked), declared)
    stage.expect(count() === before, 'something was sent for a lock that was refused')
    await write(tx, 1, 11)
  })
  stage.expect((await stage.committed()).get(1) === 11, 'the refusal has ended the transaction')
}

export const refusalLaws: readonly Law[] = [
  defineLaw({
    id: 'U1',
    says: 'Where locked rows cannot be skipped, the call is refused with the declared reason, and nothing is sent.',
    features: ['skip-locked'],
    aboutRefusal: true,
    rows: { 1: 10 },
    unless: isThere('skip-locked'),
    trial: (stage) => refuseRow(stage, { wait: 'skip' }, refusalOf(stage.facts, 'skip-locked')),
    control: givesWeakerLock,
  }),
  defineLaw({
    id: 'U2',
    says: 'Where a table cannot be locked, the calls for it are refused with the declared reason.',
    features: ['table'],
    aboutRefusal: true,
    unless: isThere('table'),
    trial: async (stage) => {
      const { locks } = await stage.client('a')
      const asked = {
        inside: () => locks.transaction((tx) => locks.table(tx, stage.table)),
        before: () => locks.transaction(async () => {}, { tables: stage.table }),
      }
      for (const [when, work] of Object.entries(asked)) {
        const error = await rejectionOf(`a lock on a table, ${when}`, work())
        expectRefusal(stage, error, refusalOf(stage.facts, 'table'))
      }
    },
    control: givesWeakerLock,
  }),
  defineLaw({
    id: 'U3',
    says: 'Where missing rows cannot be protected, a lock that should do so is refused, and nothing is sent.',
    features: ['row-exclusive'],
    rows: { 1: 10 },
    unless: ({ plan }) =>
      plan('row-exclusive', { protectAbsence: true }) === undefined ? undefined : 'this lock can be had here',
    trial: (stage) => refuseRow(stage, { protectAbsence: true }),
    control: givesWeakerLock,
  }),
  defineLaw({
    id: 'U4',
    says: 'A request for exactly this lock is refused where it would be stronger or emulated, and nothing is sent.',
    features: ['row-exclusive'],
    rows: { 1: 10 },
    unless: ({ support }) =>
      support('row-exclusive').level === 'native' ? 'the engine has this very lock' : undefined,
    trial: (stage) => refuseRow(stage, { exact: true }),
    control: callsAllNative,
  }),
  defineLaw({
    id: 'U5',
    says: 'A lock is refused for a transaction that has ended or never existed.',
    features: ['row-exclusive'],
    rows: { 1: 10 },
    trial: async (stage) => {
      const { client, transaction } = await writerOf(stage, 'a')
      const { locks } = client
      const over = await transaction('end', async (tx) => tx)
      const target = stage.facts.tools.fixture.target(stage.table, 1)
      for (const [tx, what] of [
        [over, 'that is over'],
        [{}, 'that was never there'],
      ] as const) {
        const asked = { rows: locks.rows(tx, target), name: locks.lock(tx, stage.keyOf('late')) }
        for (const [lock, work] of Object.entries(asked)) {
          const error = await rejectionOf(`a lock (${lock}) for a transaction ${what}`, work)
          stage.expect(error instanceof LockUsageError, `refused with ${describeValue(error)}`)
        }
      }
    },
    control: unlocked,
  }),
]
