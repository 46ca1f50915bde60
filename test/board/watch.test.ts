import { expect, test } from 'vitest'

import type { Look, News } from '../../src/cli/board/look.ts'
import type { LookClock } from '../../src/cli/board/looker.ts'
import { createWatch } from '../../src/cli/board/watch.ts'

const look: Look = {
  dialect: 'postgres',
  version: '15.0',
  sessions: [],
  leases: [],
  queues: [],
  deadlocks: { latest: [], unseen: [] },
  unseen: [],
  tookMs: 1,
}

/** Time that stands still until it is moved. */
function handClock(): LookClock & { readonly move: (ms: number) => Promise<void> } {
  let now = 0
  let sleepers: { readonly at: number; readonly wake: () => void }[] = []
  const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
  return {
    now: () => now,
    date: () => now,
    pause: (ms, signal) =>
      new Promise<void>((resolve, reject) => {
        const leave = (): void => reject(new Error('aborted'))
        signal.addEventListener('abort', leave, { once: true })
        const wake = (): void => {
          signal.removeEventListener('abort', leave)
          resolve()
        }
        sleepers.push({ at: now + ms, wake })
      }),
    move: async (ms) => {
      const end = now + ms
      for (;;) {
        await settle()
        const next = sleepers.toSorted((a, b) => a.at - b.at).find(({ at }) => at <= end)
        if (next === undefined) break
        now = Math.max(now, next.at)
        sleepers = sleepers.filter((one) => one !== next)
        next.wake()
      }
      now = end
      await settle()
    },
  }
}

test('the database is asked once a second, however many pages there are, and not at all without one', async () => {
  const clock = handClock()
  const asked: number[] = []
  const watch = createWatch({
    clock,
    look: async () => {
      asked.push(clock.now())
      return look
    },
  })
  await clock.move(5000)
  expect(asked).toEqual([])
  const told = [0, 0, 0, 0, 0]
  const leaves = told.map((_, page) => watch.join(() => void (told[page] = (told[page] ?? 0) + 1)))
  await clock.move(10_500)
  expect(asked).toHaveLength(11)
  expect(told).toEqual([11, 11, 11, 11, 11])
  for (const leave of leaves) leave()
  await clock.move(10_000)
  expect(asked.length).toBeLessThanOrEqual(12)
  await watch.close()
})

test('pages that come and go as fast as they can do not make it ask more often', async () => {
  const clock = handClock()
  const asked: number[] = []
  const watch = createWatch({
    clock,
    look: async () => {
      asked.push(clock.now())
      return look
    },
  })
  for (let visit = 0; visit < 100; visit += 1) {
    const leave = watch.join(() => {})
    await clock.move(50)
    leave()
  }
  for (const [index, at] of asked.entries()) {
    if (index > 0) expect(at - (asked[index - 1] ?? 0)).toBeGreaterThanOrEqual(1000)
  }
  expect(asked.length).toBeGreaterThan(2)
  await watch.close()
})

test('a database that takes long is left alone for as long', async () => {
  const clock = handClock()
  const asked: number[] = []
  const watch = createWatch({
    clock,
    look: async (signal) => {
      asked.push(clock.now())
      await clock.pause(3000, signal)
      return look
    },
  })
  watch.join(() => {})
  await clock.move(13_000)
  expect(asked).toEqual([0, 6000, 12_000])
  await watch.close()
})

test('one that says nothing is given up after five seconds, told, and asked again', async () => {
  const clock = handClock()
  let isSilent = true
  const heard: News[] = []
  const watch = createWatch({
    clock,
    look: async (signal) => {
      if (!isSilent) return look
      return new Promise<Look>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      })
    },
  })
  watch.join((news) => heard.push(news))
  await clock.move(5000)
  expect(heard).toMatchObject([{ failure: { message: 'no answer in 5 s', forMs: 5000 } }])
  expect(heard[0]).not.toHaveProperty('look')
  isSilent = false
  await clock.move(6000)
  expect(heard.at(-1)).toMatchObject({ look })
  expect(heard.at(-1)).not.toHaveProperty('failure')
  isSilent = true
  await clock.move(12_000)
  expect(heard.at(-1)).toMatchObject({ look, failure: { message: 'no answer in 5 s' } })
  expect(heard.at(-1)?.ageMs).toBeGreaterThan(5000)
  await watch.close()
})

test('its end interrupts a look that is under way', async () => {
  let isInterrupted = false
  let begin: () => void = () => {}
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const watch = createWatch({
    look: (signal) =>
      new Promise((_, reject) => {
        begin()
        signal.addEventListener('abort', () => {
          isInterrupted = true
          reject(new Error('aborted'))
        })
      }),
  })
  watch.join(() => {})
  await begun
  await watch.close()
  expect(isInterrupted).toBe(true)
})
