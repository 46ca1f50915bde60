import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { LockLostError } from '../../src/core/errors.ts'
import { heartbeat } from '../../src/locks/queue/heartbeat.ts'
import { standStill } from '../engines/standstill.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})

afterEach(() => {
  vi.useRealTimers()
})

const visibilityMs = 9000

/** When the claim is given up, if it is asked for at 0 and each extension is answered after the next of these. */
async function lostAt(givenAt: number, answersMs: number[]): Promise<number> {
  const sentAt = performance.now()
  const extend = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, answersMs.shift()))
  await vi.advanceTimersByTimeAsync(givenAt)
  let lost = 0
  heartbeat({ extend, visibilityMs, sentAt, onLost: () => (lost = performance.now() - sentAt) })
  await vi.advanceTimersByTimeAsync(100_000)
  return lost
}

test('a claim counts from its request, however late the answer came', async () => {
  expect(await lostAt(2000, [1_000_000])).toBe(visibilityMs)
})

test('an extension counts from its request, however late the answer came', async () => {
  // asked for at 3000 and answered at 7000; the next one never is
  expect(await lostAt(0, [4000, 1_000_000])).toBe(3000 + visibilityMs)
})

test('whoever looks after a standstill hears that the claim is over, before any timer has come', () => {
  vi.useRealTimers()
  const lost: unknown[] = []
  const { look, stop } = heartbeat({
    extend: () => new Promise(() => {}),
    visibilityMs: 300,
    sentAt: performance.now(),
    onLost: (why) => void lost.push(why),
  })
  look()
  expect(lost).toEqual([])
  standStill(301)
  look()
  expect(lost).toEqual([expect.any(LockLostError)])
  stop()
})
