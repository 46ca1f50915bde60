import { setImmediate as turn } from 'node:timers/promises'

import { describe, expect, test } from 'vitest'

import { NoAnswerError, within } from '../../src/locks/limit.ts'
import { openSession } from '../../src/locks/open-session.ts'
import { standStill } from '../engines/standstill.ts'

/** Comes so many turns of the event loop from now, however long each of them takes. */
async function answerIn(turns: number): Promise<string> {
  for (let left = turns; left > 0; left -= 1) await turn()
  return 'answer'
}

/** Comes when it is that late, unless nothing of the process goes on. */
async function answerAt(time: number): Promise<string> {
  while (performance.now() < time) await turn()
  return 'answer'
}

describe('a limit', () => {
  test('that is over because the process stood still waits for the answer that is on its way', async () => {
    const answer = within({ ms: 20 }, answerIn(30), () => {})
    standStill(1500)
    expect(await answer).toBe('answer')
  })

  test.each([
    { awakes: 'just behind its end', ms: 20, stillMs: 300 },
    { awakes: 'just before its end', ms: 400, stillMs: 390 },
    { awakes: 'before its end, and is awake for less than an answer may take', ms: 1600, stillMs: 1550 },
  ])('waits for the answer where the process awakes $awakes', async ({ ms, stillMs }) => {
    const answer = within({ ms }, answerAt(performance.now() + Math.max(ms, stillMs) + 50), () => {})
    await turn()
    standStill(stillMs)
    expect(await answer).toBe('answer')
  })

  test('of a wait for a connection is no other', async () => {
    const session = { release: async () => {} }
    const opening = openSession(
      { sessions: { open: () => answerIn(30).then(() => session) } },
      { purpose: 'for a test', patienceMs: 20 },
    )
    await turn()
    standStill(300)
    expect(await opening).toBe(session)
  })

  test('is over once the process has run for as long again, and says what it was', async () => {
    const gaveUp: unknown[] = []
    const waiting = within({ ms: 20 }, new Promise(() => {}), (why) => gaveUp.push(why))
    standStill(1500)
    await expect(waiting).rejects.toMatchObject({ afterMs: 20, message: 'no answer in 20 ms' })
    expect(gaveUp).toEqual([expect.any(NoAnswerError)])
  })
})
