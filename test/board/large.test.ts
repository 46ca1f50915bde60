import { expect, test } from 'vitest'

import type { Look } from '../../src/cli/board/look.ts'
import { serveBoard } from '../../src/cli/board/server.ts'
import { createWatch } from '../../src/cli/board/watch.ts'
import type { SessionSeen } from '../../src/core/inspection.ts'
import { until } from '../engines/use.ts'
import { useBrowser } from './stage.ts'

/*
 * As much as the board promises to bear: a thousand sessions, ten thousand locks and ten thousand leases, all of which
 * change with each look. What a database takes to list them is measured elsewhere; this is about the page.
 */

const browserOf = useBrowser()
const patience = { timeout: 240_000 }

/** Every tenth session waits for the one before it. */
function sessionOf(number: number, look: number): SessionSeen {
  const holds = Array.from({ length: 10 }, (_, index) => ({
    kind: 'row' as const,
    mode: 'X',
    on: `row ${number}-${index} of app.orders`,
  }))
  const common = {
    id: String(number),
    application: `worker-${number % 20}`,
    user: 'app',
    statement: `UPDATE orders SET state = 'paid' WHERE id = ${number} /* ${'x'.repeat(100)} */`,
    holds,
  }
  if (number % 10 !== 0)
    return { ...common, state: 'idle-in-transaction', transactionMs: look * 1000 + number }
  const lock = { kind: 'row' as const, mode: 'X', on: `row ${number + 1}-0 of app.orders` }
  return {
    ...common,
    state: 'waiting',
    waits: { lock, blockedBy: [String(number + 1)], waitedMs: look * 1000 + number },
  }
}

function lookOf(number: number): Look {
  return {
    dialect: 'postgres',
    version: '17.0',
    sessions: Array.from({ length: 1000 }, (_, index) => sessionOf(index, number)),
    leases: Array.from({ length: 10_000 }, (_, index) => ({
      name: `hf:tenant.${index}:abc`,
      key: `tenant.${index}`,
      owner: `node-${(index + number) % 7}`,
      fence: index + number,
      remainingMs: 30_000 - ((index * 7 + number * 1000) % 30_000),
    })),
    queues: [],
    deadlocks: { latest: [], unseen: [] },
    unseen: [],
    tookMs: number,
  }
}

test('a thousand sessions, ten thousand locks and ten thousand leases can be read and searched', async (task) => {
  let looks = 0
  const watch = createWatch({ look: async () => lookOf((looks += 1)), everyMs: 1000 })
  const ending = { isAllowed: false, ways: [] }
  const board = await serveBoard({
    host: '127.0.0.1',
    port: 0,
    token: 'large',
    title: 'a large one',
    watch,
    ending,
    end: async () => false,
  })
  task.onTestFinished(async () => {
    await board.close()
    await watch.close()
  })
  const page = await browserOf(task).newPage()
  task.onTestFinished(() => page.close())
  await page.goto(`http://127.0.0.1:${board.port}/large/`)
  const leases = page.locator('#leases')
  await leases.locator('tbody tr').first().waitFor(patience)
  expect(await leases.locator('tbody tr').count()).toBe(100)
  expect(await leases.locator('.count').innerText()).toBe('10,000')
  expect(await leases.locator('.more').innerText()).toBe('Show 100 more: 9,900 are not shown')
  expect(await page.locator('#locks .count').innerText()).toBe('1,000')
  await leases.locator('.more').click()
  expect(await leases.locator('tbody tr').count()).toBe(200)
  const first = page.locator('#locks tbody tr').first()
  await first.getByRole('button', { name: '7 more' }).click(patience)
  expect(await first.locator('ul.locks li').count()).toBe(10)
  await page.locator('#key').fill('tenant.9999')
  await expect(leases.locator('tbody tr').count()).resolves.toBe(1)
  expect(await leases.locator('.count').innerText()).toBe('1 of 10,000')
  await page.locator('#key').fill('')
  // each look is drawn, and what was opened stays open
  const seen = looks
  const drawn = async (): Promise<number> =>
    Number(/answered in (\d+) ms/.exec(await page.locator('body').innerText())?.[1])
  // a page that is slow is given the newest look, and may never see this very one
  await until(async () => (await drawn()) >= seen + 2, 'two looks more')
  expect(await leases.locator('tbody tr').count()).toBe(200)
})
