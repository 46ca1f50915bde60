import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import { createNeeds, type Needs } from '../../src/locks/needs.ts'
import { NoAnswerError } from '../../src/locks/limit.ts'
import { NoConnectionError } from '../../src/locks/open-session.ts'
import type { Port } from '../../src/locks/port.ts'
import { caught } from '../entries/stage.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})

afterEach(() => {
  vi.useRealTimers()
})

const row = { sql: 'insert into _leases (name) values (?)', params: ['a'] }
const never = new Promise<never>(() => {})

function needsOf(open: () => Promise<unknown>): Needs {
  return createNeeds({ sessions: { adapter: 'none', open } } as unknown as Port<unknown>)
}

/** Settles with the time at which each of the calls has ended. */
async function endings(calls: readonly Promise<unknown>[]): Promise<readonly [unknown, number][]> {
  const began = performance.now()
  const ended = Promise.all(
    calls.map(async (call) => [await caught(call), performance.now() - began] as [unknown, number]),
  )
  for (let seconds = 0; seconds < 40; seconds += 1) await vi.advanceTimersByTimeAsync(1000)
  return ended
}

test('a connection that never comes is not waited for for ever, by whoever needs the same row either', async () => {
  const { make } = needsOf(() => never)
  for (const [error, atMs] of await endings([make([row]), make([row])])) {
    expect(error).toBeInstanceOf(NoConnectionError)
    expect(atMs).toBeLessThan(32_000)
  }
})

test('nor is an answer: the connection is destroyed, and the next one makes the row', async () => {
  const destroyed: unknown[] = []
  const silent = { run: () => never, destroy: async (why: unknown) => void destroyed.push(why) }
  const speaking = { run: async () => [], release: async () => {} }
  const connections = [silent, speaking]
  const { make } = needsOf(async () => connections.shift())
  const [[error] = []] = await endings([make([row])])
  expect(error).toBeInstanceOf(NoAnswerError)
  expect(destroyed).toEqual([error])
  expect(await make([row])).toBe(true)
})

test("what is made on another's connection that has fallen silent is made anew", async () => {
  const { make } = needsOf(async () => ({ run: async () => [], release: async () => {} }))
  void make([row], { run: () => never } as unknown as Parameters<typeof make>[1])
  const [[error] = []] = await endings([make([row])])
  expect(error).toBeInstanceOf(NoAnswerError)
  expect(await make([row])).toBe(true)
})

test("what the end of another's transaction has kept from being made is made all the same", async () => {
  const { make } = needsOf(async () => ({ run: async () => [], release: async () => {} }))
  const ended = { run: () => Promise.reject(new LockUsageError('tx', 'the transaction has ended')) }
  const theirs = caught(make([row], ended as unknown as Parameters<typeof make>[1]))
  const [[error] = []] = await endings([make([row])])
  expect(error).toBe('no error')
  await theirs
})
