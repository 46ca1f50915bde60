import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { deadlineIn } from '../../src/core/deadline.ts'
import { createPatience } from '../../src/locks/lease/acquire.ts'
import type { Failed } from '../../src/locks/lease/call.ts'
import { NoConnectionError } from '../../src/locks/open-session.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] })
})

afterEach(() => {
  vi.useRealTimers()
})

const table = { isMade: () => true, make: async () => {}, prepare: async () => {}, noteUse: () => {} }

function withoutConnectionFor(ms: number): Failed {
  vi.advanceTimersByTime(ms)
  const error = new NoConnectionError('for a lease', ms)
  return { error, kind: 'other', dialect: undefined, mayBeDone: false }
}

function patience(): ReturnType<typeof createPatience> {
  return createPatience({ table, deadline: deadlineIn(), repeatUntil: deadlineIn(), mayRepeat: true })
}

test('who gets no connection hears how long it has waited, however often it has asked', async () => {
  const bear = patience()
  for (let tries = 1; tries < 3; tries += 1)
    expect(await bear(withoutConnectionFor(9000), false), 'a pause before the next').toBe(false)
  await expect(bear(withoutConnectionFor(9000), false)).rejects.toThrow('became free in 27000 ms for a lease')
})

test('nobody asks for one again who would wait for longer than the patience', async () => {
  await expect(patience()(withoutConnectionFor(29_000), false)).rejects.toThrow('in 29000 ms')
})

test('once the server has answered, the patience begins anew', async () => {
  const bear = patience()
  await bear(withoutConnectionFor(14_000), false)
  const busy: Failed = {
    error: new Error('busy'),
    kind: 'busy',
    dialect: { name: 'one', lease: { schema: [] } } as unknown as NonNullable<Failed['dialect']>,
    mayBeDone: false,
  }
  await bear(busy, true)
  expect(await bear(withoutConnectionFor(14_000), false)).toBe(false)
})
