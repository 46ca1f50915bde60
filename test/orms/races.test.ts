import { expect, test } from 'vitest'

import { CommitOutcomeUnknownError, LockNotAvailableError, LockTimeoutError } from '../../src/core/errors.ts'
import { classifyError } from '../../src/classify.ts'
import { randomFrom, type Random } from '../faults/random.ts'
import { meetingOf } from '../stories/meeting.ts'
import { clients } from './clients.ts'
import { describeOrms, lockFirst, type OrmContext } from './describe-orms.ts'
import { orms } from './orms.ts'
import type { OrmStage } from './stage.ts'

const races = 1000
const flows = 20
const seed = Number(process.env.HOLDFAST_SEED ?? Date.now() % 1_000_000)

describeOrms(specs, ['postgres'], [...orms, ...clients])

const mine = new Error('of the work')
const enough = new Error('enough')

type Outcome = 'stored' | 'unknown' | 'refused' | 'aborted' | 'thrown' | 'cut'

function specs(context: OrmContext): void {
  test(`${races} random races of ends, aborts, timeouts, errors and cut connections leave nothing behind`, async () => {
    const { app, other } = context
    const tally: Record<Outcome, number> = {
      stored: 0,
      unknown: 0,
      refused: 0,
      aborted: 0,
      thrown: 0,
      cut: 0,
    }
    const flow = async (index: number): Promise<void> => {
      const random = randomFrom(seed + index)
      for (let round = races / flows; round > 0; round -= 1)
        tally[await race(index % 2 === 0 ? app : other, random)] += 1
    }
    const before = await app.select(1)
    await Promise.all(Array.from({ length: flows }, (_, index) => flow(index)))
    const said = `HOLDFAST_SEED=${seed} ${JSON.stringify(tally)}`
    for (const kind of ['stored', 'refused', 'aborted', 'thrown', 'cut'] as const)
      expect(tally[kind], said).toBeGreaterThan(races / 100)
    const row = await app.locks.transaction((tx) => lockFirst(app, tx))
    const added = (row?.balance ?? 0) - (before[0]?.balance ?? 0)
    expect(added, said).toBeGreaterThanOrEqual(tally.stored)
    expect(added, said).toBeLessThanOrEqual(tally.stored + tally.unknown)
    for (const own of [app, other]) await everyConnectionWorks(own)
  })
}

/** Adds one to the first account under its lock, and ends in a random way. */
async function race(own: OrmStage, random: Random): Promise<Outcome> {
  const aborting = new AbortController()
  const timer = random.next() < 0.3 ? setTimeout(() => aborting.abort(enough), random.below(30)) : undefined
  const wait = random.pick(['nowait', 'block', { timeoutMs: 1 + random.below(30) }] as const)
  const end = random.pick(['return', 'return', 'throw', 'cut', 'swallow'] as const)
  try {
    await own.locks.transaction(
      async (tx) => {
        const row = await lockFirst(own, tx, wait)
        await own.update(tx, { id: 1, balance: (row?.balance ?? 0) + 1 })
        if (end === 'throw') throw mine
        if (end === 'cut') await own.send(tx, 'select pg_terminate_backend(pg_backend_pid())')
        if (end === 'swallow') await own.send(tx, 'select 1/0').catch(() => {})
      },
      { signal: aborting.signal, attempts: 1 },
    )
    return 'stored'
  } catch (error) {
    return outcomeOf(error, end)
  } finally {
    clearTimeout(timer)
  }
}

function outcomeOf(error: unknown, end: string): Outcome {
  if (error instanceof CommitOutcomeUnknownError) return 'unknown'
  if (error === enough) return 'aborted'
  if (error === mine) return 'thrown'
  if (error instanceof LockTimeoutError || error instanceof LockNotAvailableError) return 'refused'
  if (end === 'swallow') return 'thrown'
  if (end === 'cut' && classifyError(error).kind === 'connection-lost') return 'cut'
  throw error
}

/** All of them at once. */
async function everyConnectionWorks({ locks, size }: OrmStage): Promise<void> {
  const { meet } = meetingOf(size)
  await Promise.all(Array.from({ length: size }, () => locks.transaction(async () => meet())))
}
