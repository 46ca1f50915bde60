import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'

import { LockError } from '../../src/core/errors.ts'
import type { AcquireOptions } from '../../src/locks/session-lock/options.ts'
import { until } from '../engines/use.ts'
import { describeSessionLocks, type Party } from './stage.ts'

const races = 1000
const flows = 20

interface Tally {
  granted: number
  refused: number
  aborted: number
  /** How many were inside the same lock at one time, at most. */
  most: number
}

/** Asks in a random way, gives up at a random moment, and holds for a random while. */
async function race(
  party: Party,
  key: readonly (string | number)[],
  state: { tally: Tally; inside: number[] },
): Promise<void> {
  const { tally, inside } = state
  const which = Math.floor(Math.random() * inside.length)
  const aborting = new AbortController()
  const dice = Math.random()
  const wait: AcquireOptions['wait'] =
    dice < 0.2 ? 'nowait' : dice < 0.6 ? { timeoutMs: 1 + Math.floor(Math.random() * 30) } : 'block'
  const timer =
    Math.random() < 0.6
      ? setTimeout(() => aborting.abort(new Error('a race')), Math.random() ** 3 * 30)
      : undefined
  try {
    const held = await party.acquire([...key, which], { wait, signal: aborting.signal })
    tally.granted += 1
    inside[which] = (inside[which] ?? 0) + 1
    tally.most = Math.max(tally.most, inside[which] ?? 0)
    await pause(Math.random() * 4)
    inside[which] = (inside[which] ?? 0) - 1
    await held.release()
  } catch (error) {
    if (error === aborting.signal.reason) tally.aborted += 1
    else if (error instanceof LockError) tally.refused += 1
    else throw error
  } finally {
    clearTimeout(timer)
  }
}

describeSessionLocks((stage) => {
  test(
    `${races} random races of grants, timeouts and aborts leave nothing on the server`,
    { timeout: 600_000 },
    async () => {
      const parties = [stage.party({ max: 6 }), stage.party({ max: 6 })]
      const state = { tally: { granted: 0, refused: 0, aborted: 0, most: 0 }, inside: [0, 0, 0] }
      const flow = async (party: Party): Promise<void> => {
        for (let round = 0; round < races / flows; round += 1) await race(party, stage.key(), state)
      }
      await Promise.all(
        Array.from({ length: flows }, (_, index) => flow(parties[index % 2] ?? stage.party())),
      )
      await until(async () => (await stage.onServer()).sessions.length === 0, 'a server without named locks')
      const { granted, refused, aborted, most } = state.tally
      expect(most).toBe(1)
      expect(granted + refused + aborted).toBe(races)
      for (const count of [granted, refused, aborted]) expect(count).toBeGreaterThan(races / 50)
    },
  )
})
