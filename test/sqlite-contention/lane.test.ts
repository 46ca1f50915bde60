import { afterEach, expect, test, vi } from 'vitest'

import { deadlineIn } from '../../src/core/deadline.ts'
import { LockTimeoutError } from '../../src/core/errors.ts'
import { takeTurn, type Lanes } from '../../src/locks/lane.ts'
import { until } from '../engines/use.ts'

afterEach(() => vi.useRealTimers())

interface Patience {
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** One line of waiters whose names are noted as their turns come. */
function newLane(): {
  readonly lanes: Lanes
  readonly turns: string[]
  readonly take: (name: string, patience?: Patience) => Promise<() => void>
} {
  const lanes: Lanes = new Map()
  const turns: string[] = []
  const take = async (name: string, { timeoutMs, signal }: Patience = {}): Promise<() => void> => {
    const endTurn = await takeTurn('a file', { deadline: deadlineIn(timeoutMs), signal }, lanes)
    turns.push(name)
    return endTurn
  }
  return { lanes, turns, take }
}

test('turns come in the order of asking, one at a time', async () => {
  const { lanes, turns, take } = newLane()
  let inside = 0
  const names = Array.from({ length: 20 }, (_, index) => String(index))
  await Promise.all(
    names.map(async (name) => {
      const endTurn = await take(name)
      inside += 1
      expect(inside).toBe(1)
      await new Promise(setImmediate)
      inside -= 1
      endTurn()
    }),
  )
  expect(turns).toEqual(names)
  expect(lanes.size).toBe(0)
})

test('lanes do not wait for each other', async () => {
  const lanes: Lanes = new Map()
  const patience = { deadline: deadlineIn(), signal: undefined }
  const ends = [await takeTurn('one', patience, lanes), await takeTurn('another', patience, lanes)]
  expect(lanes.size).toBe(2)
  for (const end of ends) end()
  expect(lanes.size).toBe(0)
})

test('whoever aborts in the middle leaves at once, and the others keep their order', async () => {
  const { lanes, turns, take } = newLane()
  const endFirst = await take('first')
  const second = take('second')
  const leaving = new AbortController()
  const third = take('third', { signal: leaving.signal })
  const fourth = take('fourth')
  const reason = new Error('changed my mind')
  leaving.abort(reason)
  await expect(third).rejects.toBe(reason)
  expect(turns).toEqual(['first'])
  endFirst()
  ;(await second)()
  ;(await fourth)()
  expect(turns).toEqual(['first', 'second', 'fourth'])
  expect(lanes.size).toBe(0)
})

test('an abort before or after the wait takes no place in the line', async () => {
  const { lanes, turns, take } = newLane()
  await expect(take('never', { signal: AbortSignal.abort(new Error('too late')) })).rejects.toThrow(
    'too late',
  )
  expect(lanes.size).toBe(0)
  const holder = new AbortController()
  const endFirst = await take('first', { signal: holder.signal })
  const second = take('second')
  holder.abort() // the turn is the holder's until it ends it
  await new Promise(setImmediate)
  expect(turns).toEqual(['first'])
  endFirst()
  ;(await second)()
  expect(lanes.size).toBe(0)
})

test('whoever runs out of time in the middle gets a LockTimeoutError, and the others keep their order', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  const { lanes, turns, take } = newLane()
  const endFirst = await take('first')
  const second = take('second')
  let isRefused = false
  const hasty = take('hasty', { timeoutMs: 30 })
  const fourth = take('fourth', { timeoutMs: 60_000 })
  hasty.catch(() => (isRefused = true))
  await vi.advanceTimersByTimeAsync(30)
  expect(isRefused).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  expect(isRefused).toBe(true)
  await expect(hasty).rejects.toBeInstanceOf(LockTimeoutError)
  endFirst()
  ;(await second)()
  ;(await fourth)()
  expect(turns).toEqual(['first', 'second', 'fourth'])
  expect(lanes.size).toBe(0)
})

test('a timeout that was met leaves no timer behind', async () => {
  const { take } = newLane()
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const endFirst = await take('first', { timeoutMs: 60_000 })
  const before = timers()
  const second = take('second', { timeoutMs: 60_000 })
  expect(timers()).toBe(before + 1)
  endFirst()
  ;(await second)()
  await until(() => timers() <= before, 'the timers are gone')
})

test('a turn that is ended twice ends no turn of others', async () => {
  const { lanes, turns, take } = newLane()
  const endFirst = await take('first')
  const second = take('second')
  endFirst()
  endFirst()
  const third = take('third')
  const endSecond = await second
  await new Promise(setImmediate)
  expect(turns).toEqual(['first', 'second'])
  endSecond()
  ;(await third)()
  expect(lanes.size).toBe(0)
})

test('a turn that is ended again when the lane has a new line leaves that line alone', async () => {
  const { lanes, turns, take } = newLane()
  const endOld = await take('old')
  endOld()
  const endNew = await take('new')
  endOld()
  const next = take('next')
  await new Promise(setImmediate)
  expect(turns).toEqual(['old', 'new'])
  endNew()
  ;(await next)()
  expect(turns).toEqual(['old', 'new', 'next'])
  expect(lanes.size).toBe(0)
})
