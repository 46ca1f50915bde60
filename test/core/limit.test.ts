import { setImmediate as turn } from 'node:timers/promises'

import { describe, expect, test } from 'vitest'

import { NoAnswerError, within } from '../../src/locks/limit.ts'

/** Nothing of the process goes on meanwhile, as when its machine is suspended. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** Comes so many turns of the event loop from now, however long each of them takes. */
async function answerIn(turns: number): Promise<string> {
  for (let left = turns; left > 0; left -= 1) await turn()
  return 'answer'
}

describe('a limit', () => {
  test('that is over because the process stood still waits for the answer that is on its way', async () => {
    const answer = within({ ms: 20 }, answerIn(30), () => {})
    standStill(1500)
    expect(await answer).toBe('answer')
  })

  test('is over once the process has run for as long again, and says what it was', async () => {
    const gaveUp: unknown[] = []
    const waiting = within({ ms: 20 }, new Promise(() => {}), (why) => gaveUp.push(why))
    standStill(1500)
    await expect(waiting).rejects.toMatchObject({ afterMs: 20, message: 'no answer in 20 ms' })
    expect(gaveUp).toEqual([expect.any(NoAnswerError)])
  })
})
