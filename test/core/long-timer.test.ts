import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'

import { clearTimeout, setTimeout } from '../../src/core/clock.ts'

test('a time that is longer than Node can count is not over at once', async () => {
  let isOver = false
  const timer = setTimeout(() => (isOver = true), 2 ** 31 + 5000)
  await pause(20) // Node takes such a time for one millisecond
  clearTimeout(timer)
  expect(isOver).toBe(false)
})
