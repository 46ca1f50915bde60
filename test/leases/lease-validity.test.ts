import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { LockLostError } from '../../src/core/errors.ts'
import { createValidity, marginMs } from '../../src/locks/lease/validity.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})

afterEach(() => {
  vi.useRealTimers()
})

test('a lease counts from before its request was sent, less a margin', () => {
  const sentAt = performance.now()
  vi.advanceTimersByTime(400)
  const validity = createValidity({ label: 'it' }, sentAt, 10_000)
  expect(validity.remainingMs()).toBeCloseTo(10_000 - 500 - 400)
  expect(marginMs(100)).toBe(5)
  expect(marginMs(60_000)).toBe(1000)
})

test('the signal aborts when the time is over, and not before', () => {
  const validity = createValidity({ label: 'it' }, performance.now(), 10_000)
  vi.advanceTimersByTime(9499)
  expect(validity.signal().aborted).toBe(false)
  vi.advanceTimersByTime(2)
  expect(validity.signal().aborted).toBe(true)
  expect(validity.signal().reason).toBeInstanceOf(LockLostError)
})

test('the last error is the cause of the loss, unless it was confirmed after it', () => {
  const error = new Error('no route')
  const validity = createValidity({ label: 'it' }, performance.now(), 10_000)
  validity.note(new Error('an old one'))
  validity.note(undefined)
  validity.confirm(performance.now(), 10_000)
  validity.note(error)
  vi.advanceTimersByTime(9501)
  expect(validity.signal().reason).toMatchObject({ cause: error })
})

test('a confirmation counts from when it was sent', () => {
  const validity = createValidity({ label: 'it' }, performance.now(), 10_000)
  vi.advanceTimersByTime(3000)
  const sentAt = performance.now()
  vi.advanceTimersByTime(3000)
  validity.confirm(sentAt, 10_000)
  expect(validity.remainingMs()).toBeCloseTo(9500 - 3000)
  vi.advanceTimersByTime(6499)
  expect(validity.signal().aborted).toBe(false)
  vi.advanceTimersByTime(2)
  expect(validity.signal().aborted).toBe(true)
})

test('a process that was stopped sees the loss before any timer has come', () => {
  const validity = createValidity({ label: 'it' }, performance.now(), 10_000)
  vi.useRealTimers()
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 3_600_000)
  expect(() => validity.throwIfLost()).toThrow(LockLostError)
  expect(validity.signal().aborted).toBe(true)
  clock.mockRestore()
})

test('a confirmation that comes too late brings nothing back', () => {
  const validity = createValidity({ label: 'it' }, performance.now(), 10_000)
  vi.advanceTimersByTime(9501)
  validity.confirm(performance.now(), 10_000)
  expect(validity.remainingMs()).toBe(0)
  expect(() => validity.throwIfLost()).toThrow(LockLostError)
})

test('a request that may shorten the lease shortens it before its answer is there', () => {
  const validity = createValidity({ label: 'it' }, performance.now(), 10_000)
  validity.expect(performance.now(), 1000)
  expect(validity.remainingMs()).toBeCloseTo(950)
  validity.confirm(performance.now(), 10_000)
  expect(validity.remainingMs()).toBeCloseTo(9500)
})

test('a request that may still be done later limits what is confirmed meanwhile', () => {
  const validity = createValidity({ label: 'it' }, performance.now(), 10_000)
  validity.doubt(2000)
  validity.confirm(performance.now(), 60_000)
  expect(validity.remainingMs()).toBeCloseTo(1900)
})

test('a release is no loss, and nothing is lost after it', () => {
  const validity = createValidity({ label: 'it' }, performance.now(), 10_000)
  validity.end()
  validity.lose()
  vi.advanceTimersByTime(20_000)
  expect(validity.signal().aborted).toBe(false)
  expect(validity.remainingMs()).toBe(0)
  expect(() => validity.throwIfLost()).toThrow('the it was released')
})
