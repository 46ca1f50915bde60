import { describe, expect, test } from 'vitest'

import { backoffMs } from '../../src/core/backoff.ts'
import { deadlineIn, pause } from '../../src/core/deadline.ts'

describe('a pause before a retry', () => {
  test('is jittered from the first retry on, under a ceiling that doubles up to the cap', () => {
    const ceilings = [1, 2, 3, 4, 5, 20].map((retry) =>
      backoffMs(retry, { baseMs: 10, capMs: 100, random: () => 1 - 1e-9 }),
    )
    expect(ceilings).toEqual([10, 20, 40, 80, 100, 100])
    const first = new Set(Array.from({ length: 200 }, () => backoffMs(1, { baseMs: 1000 })))
    expect(first.size).toBeGreaterThan(50)
  })

  test('is never zero, so that a retry never spins', () => {
    expect(backoffMs(1, { random: () => 0 })).toBe(1)
  })

  test('stays finite after very many retries', () => {
    expect(backoffMs(10_000, { capMs: 500, random: () => 0.5 })).toBe(250)
  })

  test.each([0, -1, 1.5, Number.NaN])('is refused for retry number %o', (retry) => {
    expect(() => backoffMs(retry)).toThrow(
      expect.objectContaining({ name: 'LockUsageError', field: 'retry' }),
    )
  })
})

describe('a deadline', () => {
  test('counts down to zero and not below', () => {
    let now = 100
    const deadline = deadlineIn(50, () => now)
    expect([deadline.remainingMs(), deadline.isPast()]).toEqual([50, false])
    now = 149
    expect([deadline.remainingMs(), deadline.isPast()]).toEqual([1, false])
    now = 1000
    expect([deadline.remainingMs(), deadline.isPast()]).toEqual([0, true])
  })

  test('without a time never comes', () => {
    expect([deadlineIn().remainingMs(), deadlineIn().isPast()]).toEqual([Infinity, false])
  })

  test.each([-1, Number.NaN])('is refused for %o', (timeoutMs) => {
    expect(() => deadlineIn(timeoutMs)).toThrow(expect.objectContaining({ field: 'timeoutMs' }))
  })
})

describe('pause', () => {
  test('ends at the deadline, however long it was to be', async () => {
    await expect(pause(3_600_000, deadlineIn(5))).resolves.toBeUndefined()
  })

  test('rejects with the reason of a signal that aborts it, before and during', async () => {
    const reason = new Error('enough')
    await expect(pause(1, undefined, AbortSignal.abort(reason))).rejects.toBe(reason)
    const controller = new AbortController()
    const paused = pause(3_600_000, undefined, controller.signal)
    controller.abort(reason)
    await expect(paused).rejects.toBe(reason)
  })
})

test('a pause that is longer than a timer can be is not over at once', async () => {
  const stop = new AbortController()
  let isOver = false
  const long = pause(2 ** 32, undefined, stop.signal).finally(() => (isOver = true))
  await pause(20)
  expect(isOver).toBe(false)
  stop.abort()
  await expect(long).rejects.toThrow()
})
