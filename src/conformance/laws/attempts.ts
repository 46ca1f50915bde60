import { setTimeout as pause } from 'node:timers/promises'

import { LockUsageError, RetryableTransactionError } from '../../core/errors.ts'
import type { Retry } from '../../locks/transaction/options.ts'
import {
  hidesWorkError,
  ignoresAbort,
  joinsUnasked,
  losesOriginalError,
  retriesForEver,
} from '../controls/retry-defects.ts'
import { cutterOf } from '../cut.ts'
import type { Facts } from '../facts.ts'
import { defineLaw, type Law } from '../law.ts'
import type { Stage } from '../stage.ts'
import { describeValue } from '../trace.ts'
import { rejectionOf, writerOf, type Writer } from '../writer.ts'

const noKill = ({ canKill }: Facts): string | undefined =>
  canKill ? undefined : 'there is no connection that a server could end'

async function expectNothingStored(stage: Stage): Promise<void> {
  const n = (await stage.committed()).get(1)
  stage.expect(n === 0, `row 1 is ${n}: something was stored`)
}

function expectSame(stage: Stage, error: unknown, expected: unknown): void {
  stage.expect(error === expected, `rejected with ${describeValue(error)}, not with the very same error`)
}

/** Work that writes and then loses, time and again. */
function losing({ add }: Writer, onRun: () => void): (tx: object) => Promise<never> {
  return async (tx) => {
    onRun()
    await add(tx, 1)
    throw new RetryableTransactionError('deadlock', 'lost on purpose')
  }
}

const shortPauses = { baseMs: 1, capMs: 5 }

export const attemptLaws: readonly Law[] = [
  defineLaw({
    id: 'D8',
    says: 'A transaction that always fails runs `attempts` times, calls `onRetry` for each failure but the last, and stores nothing.',
    features: ['retry'],
    rows: { 1: 0 },
    trial: async (stage) => {
      const writer = await writerOf(stage, 'a')
      const told: Retry[] = []
      let runs = 0
      const work = writer.transaction(
        'lose every time',
        losing(writer, () => (runs += 1)),
        { attempts: 3, backoff: shortPauses, onRetry: (retry) => void told.push(retry) },
      )
      const error = await rejectionOf('a transaction that always loses', work)
      stage.expect(runs === 3, `it ran ${runs} times, not 3`)
      const attempts = told.map(({ attempt, kind }) => `${attempt} ${kind}`).join(', ')
      stage.expect(attempts === '1 deadlock, 2 deadlock', `onRetry was told of: ${attempts}`)
      stage.expect(error instanceof RetryableTransactionError, `rejected with ${describeValue(error)}`)
      await expectNothingStored(stage)
    },
    control: retriesForEver,
  }),
  defineLaw({
    id: 'D9',
    says: 'No attempt starts after `budgetMs`.',
    features: ['retry'],
    rows: { 1: 0 },
    trial: async (stage) => {
      const writer = await writerOf(stage, 'a')
      let runs = 0
      // each pause takes a third of the budget
      const backoff = { baseMs: 100, capMs: 100, random: () => 1 }
      const work = writer.transaction(
        'lose every time',
        losing(writer, () => (runs += 1)),
        { attempts: 50, budgetMs: 300, backoff },
      )
      await rejectionOf('a transaction that always loses', work)
      stage.expect(runs <= 3, `it ran ${runs} times, for which there was no time`)
      await expectNothingStored(stage)
    },
    control: retriesForEver,
  }),
  defineLaw({
    id: 'D10',
    says: "An aborted signal ends the work and the pauses between attempts with the signal's reason, and nothing is stored.",
    features: ['retry'],
    rows: { 1: 0 },
    trial: async (stage) => {
      const writer = await writerOf(stage, 'a')
      const reason = new Error('the caller gave up')
      const inWork = new AbortController()
      const work = async (tx: object): Promise<void> => {
        await writer.add(tx, 1)
        inWork.abort(reason)
        await pause(200)
      }
      const working = writer.transaction('give up in the work', work, { signal: inWork.signal })
      expectSame(stage, await rejectionOf('work that was aborted', working), reason)
      const inPause = new AbortController()
      let runs = 0
      const pausing = writer.transaction(
        'give up in a pause',
        losing(writer, () => (runs += 1)),
        {
          signal: inPause.signal,
          backoff: { baseMs: 10_000, capMs: 10_000, random: () => 1 },
          onRetry: () => inPause.abort(reason),
        },
      )
      expectSame(stage, await rejectionOf('a pause that was aborted', pausing), reason)
      stage.expect(runs === 1, `it ran ${runs} times, not once`)
      await expectNothingStored(stage)
    },
    control: ignoresAbort,
  }),
  defineLaw({
    id: 'D11',
    says: "The work's own error reaches the caller as the same object, after one run, and nothing is stored.",
    features: ['retry'],
    rows: { 1: 0 },
    trial: async (stage) => {
      const { transaction, add } = await writerOf(stage, 'a')
      const own = new Error('the account is empty')
      let runs = 0
      const work = transaction('throw an error of its own', async (tx) => {
        runs += 1
        await add(tx, 1)
        throw own
      })
      expectSame(stage, await rejectionOf('work that throws', work), own)
      stage.expect(runs === 1, `it ran ${runs} times, not once`)
      await expectNothingStored(stage)
    },
    control: losesOriginalError,
  }),
  defineLaw({
    id: 'D12',
    says: "The work's own error reaches the caller even when the rollback fails because the connection is dead.",
    features: ['retry'],
    rows: { 1: 0 },
    unless: noKill,
    trial: async (stage) => {
      const writer = await writerOf(stage, 'a')
      const own = new Error('the account is empty')
      const work = writer.transaction('lose the connection, and throw an error of its own', async (tx) => {
        await writer.add(tx, 1)
        const cut = await cutterOf(stage.ground, (statement) => writer.client.run(tx, statement))
        await cut()
        throw own
      })
      expectSame(stage, await rejectionOf('work that throws on a dead connection', work), own)
      await expectNothingStored(stage)
    },
    control: hidesWorkError,
  }),
  defineLaw({
    id: 'D13',
    says: "A transaction inside another one is refused; with nested: 'join' it becomes part of it and shares its outcome.",
    features: ['retry'],
    rows: { 1: 0 },
    trial: async (stage) => {
      const { transaction, add } = await writerOf(stage, 'a')
      const own = new Error('the outer one fails')
      const work = transaction('open transactions inside of one', async (outer) => {
        const inner = transaction('without a word', async (tx) => add(tx, 1))
        const refusal = await rejectionOf('a transaction inside of another', inner)
        stage.expect(refusal instanceof LockUsageError, `refused with ${describeValue(refusal)}`)
        const same = await transaction(
          'as a part of it',
          async (tx) => {
            await add(tx, 1)
            return tx === outer
          },
          { nested: 'join' },
        )
        stage.expect(same, 'the inner one has another transaction')
        throw own
      })
      expectSame(stage, await rejectionOf('the outer transaction', work), own)
      await expectNothingStored(stage)
    },
    control: joinsUnasked,
  }),
]
