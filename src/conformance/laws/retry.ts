import { classifyFor } from '../../core/classify.ts'
import { LockError, LockUsageError, RetryableTransactionError } from '../../core/errors.ts'
import type { Isolation } from '../../core/request.ts'
import type { TransactionOptions } from '../../locks/transaction/options.ts'
import { unlocked } from '../controls.ts'
import { repeatsInside, trustsCommit } from '../controls/retry-defects.ts'
import { BrokenLawError } from '../broken-law.ts'
import type { Facts } from '../facts.ts'
import { defineLaw, type Law } from '../law.ts'
import { meetingOf } from '../meeting.ts'
import type { Stage } from '../stage.ts'
import { describeValue } from '../trace.ts'
import { writerOf, type Writer } from '../writer.ts'

/** A deadlock needs two that wait in the server, each for a row of the other. */
const noDeadlock = ({ plan }: Facts): string | undefined => {
  const lock = plan('row-exclusive')
  return lock?.waiting.by === 'server' && lock.support.granularity === 'row'
    ? undefined
    : 'nobody waits in the server for a single row, so nothing can be locked crosswise'
}

const noConflict = ({ dialect }: Facts): string | undefined =>
  dialect.transaction.writeMode === undefined
    ? undefined
    : 'a transaction has the whole database for itself, so none can lose against another'

/** How long somebody waits inside of a transaction for another who may be kept out by it. */
const patienceMs = 300

/** The strictest level at which transactions can be run here. */
async function strictestLevel(stage: Stage): Promise<Isolation> {
  const { locks } = await stage.client('a')
  for (const isolation of ['serializable', 'snapshot'] as const) {
    if (await isOffered(locks.transaction(async () => {}, { isolation }))) return isolation
  }
  throw new BrokenLawError('neither serializable nor snapshot is offered')
}

async function isOffered(transaction: Promise<void>): Promise<boolean> {
  try {
    await transaction
    return true
  } catch (error) {
    if (error instanceof LockUsageError) return false
    throw error
  }
}

type Pair = readonly [number, number]

/** Both have their connections before they race. */
async function twoWriters(stage: Stage): Promise<{ readonly a: Writer; readonly b: Writer }> {
  return { a: await writerOf(stage, 'a'), b: await writerOf(stage, 'b') }
}

/** Reads a row without locking it, lets the other read it too, and adds to what it has read. */
async function addToSeen(
  { transaction, read, write }: Writer,
  both: () => Promise<void>,
  options: TransactionOptions,
): Promise<void> {
  const work = async (tx: object): Promise<void> => {
    const seen = await read(tx, 1)
    await both()
    await write(tx, 1, seen + 1)
  }
  await transaction('add to what it has read', work, options)
}

async function expectRows(stage: Stage, expected: Readonly<Record<number, number>>): Promise<void> {
  const rows = await stage.committed()
  for (const [id, n] of Object.entries(expected)) {
    stage.expect(rows.get(Number(id)) === n, `row ${id} is ${rows.get(Number(id))}, not ${n}`)
  }
}

/** Prisma's code is that of clients of its kind. */
function isRetryableCode(code: string): boolean {
  return ['TX_RETRYABLE', 'P2034'].includes(code)
}

/** The one class, with the driver's own error in it. */
function expectLoss({ expect, facts }: Stage, error: unknown): void {
  const seen = describeValue(error)
  if (!(error instanceof RetryableTransactionError)) throw new BrokenLawError(`lost with ${seen}`)
  expect(isRetryableCode(error.code) && error.isRetryable, `${seen} does not say: run it again`)
  const { cause } = error
  expect(cause !== undefined && !(cause instanceof LockError), `${seen} hides the driver's error`)
  expect(classifyFor(cause, facts.dialect).retryable, `${seen} has another cause: ${describeValue(cause)}`)
}

interface Crossing {
  readonly outcomes: readonly PromiseSettledResult<void>[]
  /** Whether the effect of each is stored. */
  readonly isStored: readonly boolean[]
}

/** Each adds to a row of its own, and then wants the other's: one of the two must lose. They have one attempt. */
async function cross(stage: Stage, isSwallowed: boolean): Promise<Crossing> {
  const both = meetingOf(2, stage)
  const take = async ({ transaction, lock, add }: Writer, [own, other]: Pair): Promise<void> => {
    const work = async (tx: object): Promise<void> => {
      await lock(tx, own)
      await add(tx, own)
      await both()
      const second = lock(tx, other)
      await (isSwallowed ? second.catch(() => {}) : second)
    }
    await transaction(`lock row ${own}, then row ${other}`, work, { attempts: 1 })
  }
  const { a, b } = await twoWriters(stage)
  const outcomes = await Promise.allSettled([take(a, [1, 2]), take(b, [2, 1])])
  const rows = await stage.committed()
  return { outcomes, isStored: [1, 2].map((id) => rows.get(id) === 1) }
}

function lossesIn(outcomes: readonly PromiseSettledResult<void>[]): readonly unknown[] {
  return outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
}

export const retryLaws: readonly Law[] = [
  defineLaw({
    id: 'D1',
    says: 'Two transactions that lock two rows in opposite orders both succeed, each applied once.',
    features: ['retry', 'row-exclusive'],
    rows: { 1: 0, 2: 0 },
    trial: async (stage) => {
      const both = meetingOf(2, { signal: stage.signal, patienceMs })
      const addToBoth = async ({ transaction, lock, write }: Writer, [own, other]: Pair): Promise<void> =>
        transaction(`lock row ${own}, then row ${other}, and add to both`, async (tx) => {
          const first = await lock(tx, own)
          await both()
          const second = await lock(tx, other)
          await write(tx, own, first + 1)
          await write(tx, other, second + 1)
        })
      const { a, b } = await twoWriters(stage)
      await Promise.all([addToBoth(a, [1, 2]), addToBoth(b, [2, 1])])
      await expectRows(stage, { 1: 2, 2: 2 })
    },
    control: unlocked,
  }),
  defineLaw({
    id: 'D2',
    says: "The victim of a deadlock gets the retryable error class, with the driver's error as its cause.",
    features: ['retry', 'row-exclusive'],
    rows: { 1: 0, 2: 0 },
    unless: noDeadlock,
    trial: async (stage) => {
      const { outcomes, isStored } = await cross(stage, false)
      const losses = lossesIn(outcomes)
      stage.expect(losses.length === 1, `${losses.length} have lost, not one`)
      expectLoss(stage, losses[0])
      const isRight = outcomes.every(({ status }, index) => isStored[index] === (status === 'fulfilled'))
      stage.expect(isRight, 'what is stored is not the effect of the winner alone')
    },
    control: unlocked,
  }),
  defineLaw({
    id: 'D3',
    says: 'A body that swallows a deadlock is not reported as stored when the database rolled it back.',
    features: ['retry', 'row-exclusive'],
    rows: { 1: 0, 2: 0 },
    unless: noDeadlock,
    trial: async (stage) => {
      const { outcomes, isStored } = await cross(stage, true)
      stage.expect(isStored.includes(false), 'nobody has lost')
      const isRight = outcomes.every(({ status }, index) => isStored[index] === (status === 'fulfilled'))
      stage.expect(isRight, 'a transaction was reported as stored, and is not')
    },
    control: trustsCommit,
  }),
  defineLaw({
    id: 'D4',
    says: 'At the strictest isolation level, two transactions that read and then write lose no update.',
    features: ['retry'],
    rows: { 1: 0 },
    trial: async (stage) => {
      const isolation = await strictestLevel(stage)
      const both = meetingOf(2, { signal: stage.signal, patienceMs })
      const { a, b } = await twoWriters(stage)
      await Promise.all([a, b].map((writer) => addToSeen(writer, both, { isolation })))
      await expectRows(stage, { 1: 2 })
    },
    control: unlocked,
  }),
  defineLaw({
    id: 'D5',
    says: 'A serialization failure or write conflict is the same retryable class as a deadlock, and nothing is stored.',
    features: ['retry'],
    rows: { 1: 0 },
    unless: noConflict,
    trial: async (stage) => {
      const isolation = await strictestLevel(stage)
      const both = meetingOf(2, stage)
      const { a, b } = await twoWriters(stage)
      const outcomes = await Promise.allSettled(
        [a, b].map((writer) => addToSeen(writer, both, { isolation, attempts: 1 })),
      )
      const losses = lossesIn(outcomes)
      stage.expect(losses.length === 1, `${losses.length} have lost, not one`)
      expectLoss(stage, losses[0])
      await expectRows(stage, { 1: 1 })
    },
    control: unlocked,
  }),
  defineLaw({
    id: 'D6',
    says: 'Two serializable transactions that read what the other writes end as if one had run first; where the level does not exist, it is refused.',
    features: ['retry'],
    rows: { 1: 1, 2: 1 },
    trial: async (stage) => {
      const { locks } = await stage.client('a')
      if (!(await isOffered(locks.transaction(async () => {}, { isolation: 'serializable' })))) return
      const both = meetingOf(2, { signal: stage.signal, patienceMs })
      const leave = async ({ transaction, read, write }: Writer, own: number): Promise<void> => {
        const work = async (tx: object): Promise<void> => {
          const present = (await read(tx, 1)) + (await read(tx, 2))
          await both()
          if (present === 2) await write(tx, own, 0)
        }
        await transaction('leave, unless the other has left', work, { isolation: 'serializable' })
      }
      const { a, b } = await twoWriters(stage)
      await Promise.all([leave(a, 1), leave(b, 2)])
      const rows = [...(await stage.committed()).values()].toSorted((x, y) => x - y)
      stage.expect(rows.join() === '0,1', `the rows are ${rows.join()}: not exactly one has left`)
    },
    control: unlocked,
  }),
  defineLaw({
    id: 'D7',
    says: 'Every attempt starts over: what a failed attempt wrote is gone.',
    features: ['retry'],
    rows: { 1: 0 },
    trial: async (stage) => {
      const { transaction, read, add } = await writerOf(stage, 'a')
      const seen: number[] = []
      await transaction('add, and lose the first time', async (tx) => {
        seen.push(await read(tx, 1))
        await add(tx, 1)
        if (seen.length === 1) throw new RetryableTransactionError('deadlock', 'lost on purpose')
      })
      stage.expect(seen.join() === '0,0', `the attempts have found ${seen.join()}, not 0,0`)
      await expectRows(stage, { 1: 1 })
    },
    control: repeatsInside,
  }),
]
