import { expect } from 'vitest'

import type { TransactionState } from '../../src/core/error-kind.ts'
import type { EngineSession } from '../engines/engine.ts'
import { until } from '../engines/until.ts'
import type { Provocations } from './scenario.ts'
import type { Stage } from './stage.ts'

interface Remains {
  readonly stage: Stage
  readonly session: EngineSession
  readonly provocations: Provocations
  readonly hasTransaction?: () => Promise<boolean>
}

/** Asks the server whether that is what is left of the session's transaction. */
export async function expectRemains(claimed: TransactionState, remains: Remains): Promise<void> {
  await checks[claimed](remains)
}

const checks: Readonly<Record<TransactionState, (remains: Remains) => Promise<void>>> = {
  open: async (remains) => {
    const { stage, session, provocations } = remains
    await untilServerHas(remains, true)
    if (stage.hasMarked(session)) {
      expect(await marksOf(session, provocations), 'what it wrote before is in it').toContain('before')
      await session.run(provocations.mark('after'))
    }
    await session.rollback()
    expect(await marksOf(await stage.open(), provocations), 'and goes with it').toEqual([])
  },
  aborted: async (remains) => {
    const { session, provocations } = remains
    await untilServerHas(remains, true)
    await expect(session.run(provocations.marks), 'it takes nothing more').rejects.toThrow()
    await session.rollback()
    expect(await marksOf(session, provocations), 'until it is rolled back').toEqual([])
  },
  'rolled-back': async (remains) => {
    const { session, provocations } = remains
    await untilServerHas(remains, false)
    if (provocations.isRolledBackByHand === true) await session.rollback().catch(() => {}) // after COMMIT it may not
    expect(await marksOf(session, provocations), 'what it wrote is gone, and the session is free').toEqual([])
    await session.commit().catch(() => {}) // too late for anything
    expect(await marksOf(session, provocations), 'for good').toEqual([])
  },
  unknown: async (remains) => {
    const { session, provocations } = remains
    await session.rollback().catch(() => {}) // does not help
    await expect(session.run(provocations.marks), 'the session is of no more use').rejects.toThrow()
    await untilServerHas(remains, false)
  },
}

/** An error may be sent an instant before the server has put its house in order. */
async function untilServerHas(remains: Remains, expected: boolean): Promise<void> {
  const what = expected ? 'the transaction on the server' : 'the end of the transaction on the server'
  await until(async () => (await serverHas(remains)) === expected, what)
}

async function serverHas({ hasTransaction, stage: { engine }, session: { id } }: Remains): Promise<boolean> {
  if (hasTransaction !== undefined) return hasTransaction()
  const lines = await engine.leftovers()
  return lines.some((line) => ` ${line}`.includes(` ${id}:`) && line.includes('transaction'))
}

async function marksOf(session: EngineSession, { marks }: Provocations): Promise<readonly unknown[]> {
  return (await session.run(marks)).map(({ name }) => name)
}
