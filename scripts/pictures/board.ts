import { writeFile } from 'node:fs/promises'

import pg from 'pg'
import type { Browser } from 'playwright-core'

import { runCli } from '../../src/cli/run.ts'
import { createLocks, queue } from '../../src/entries/pg.ts'
import { until } from '../../test/engines/until.ts'
import { openBrowser } from '../../test/site/browser.ts'
import { withScene } from './scene.ts'

/** How each picture of the board is taken. */
const views = [
  { name: 'board-light', colorScheme: 'light', viewport: { width: 1080, height: 780 } },
  { name: 'board-dark', colorScheme: 'dark', viewport: { width: 1080, height: 780 } },
  { name: 'board-phone', colorScheme: 'light', viewport: { width: 390, height: 844 } },
] as const

const described = {
  table: 'job',
  id: 'id',
  orderBy: 'id',
  claim: { token: 'claim_token', until: 'claimed_until' },
  done: 'delete',
} as const

/** Takes the pictures of the board: a real one, of a real server, in a real browser. */
export async function takeBoard(url: string, folder: URL): Promise<void> {
  const browser = await openBrowser()
  if ('unavailable' in browser) throw new Error(browser.unavailable)
  try {
    await withScene(url, () =>
      withJobs(url, () => withBoard(url, (page) => photograph(browser, page, folder))),
    )
  } finally {
    await browser.close()
  }
}

/** A queue in which some jobs are claimed while the pictures are taken. */
async function withJobs(url: string, show: () => Promise<void>): Promise<void> {
  const pool = new pg.Pool({ connectionString: url, application_name: 'mailer', max: 2 })
  const locks = createLocks(pool)
  await pool.query(
    'CREATE TABLE job (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, created_at TIMESTAMPTZ DEFAULT now(), ' +
      'claim_token TEXT, claimed_until BIGINT)',
  )
  await pool.query(
    "INSERT INTO job (created_at) SELECT now() - interval '4 minutes' FROM generate_series(1, 240)",
  )
  const jobs = queue(described)
  const timer = setInterval(() => void locks.claim(jobs, { limit: 2 }).catch(() => {}), 400)
  try {
    await show()
  } finally {
    clearInterval(timer)
    await pool.end()
  }
}

/** Runs the command, and gives the address that it prints. */
async function withBoard(url: string, use: (address: string) => Promise<void>): Promise<void> {
  const end = new AbortController()
  let tell: (address: string) => void = () => {}
  const printed = new Promise<string>((resolve) => (tell = resolve))
  const description = JSON.stringify({ ...described, storedAt: 'created_at' })
  const running = runCli(['board', '--allow-kill', '--queue', description, url], {
    write: (text) => tell(text.trim()),
    progress: () => {},
    isInteractive: false,
    isScreen: false,
    hasColour: false,
    columns: 100,
    signal: end.signal,
  })
  try {
    const failed = running.then(({ text }) => Promise.reject(new Error(text)))
    await use(await Promise.race([printed, failed]))
  } finally {
    end.abort(new Error('the pictures are taken'))
    await running
  }
}

/** One page stays open first, so that the graphs have something to show. */
async function photograph(browser: Browser, address: string, folder: URL): Promise<void> {
  const first = await browser.newPage()
  await first.goto(address)
  const line = first.locator('.graph .line').first()
  await until(async () => ((await line.getAttribute('d')) ?? '').length > 400, 'a line in the graph')
  for (const { name, ...look } of views) {
    const page = await browser.newPage({ ...look, reducedMotion: 'reduce' })
    await page.goto(address)
    await page.locator('#locks tr.waiting').first().waitFor()
    await page.locator('#queues tbody tr').first().waitFor()
    const isNarrow = look.viewport.width < 500
    if (isNarrow) await page.locator('#locks').evaluate(toTheTop)
    await writeFile(
      new URL(`${name}.jpg`, folder),
      await page.screenshot({ type: 'jpeg', quality: isNarrow ? 70 : 60 }),
    )
    await page.close()
  }
}

/** Runs in the browser. */
function toTheTop(element: { readonly scrollIntoView: (isAtTop: boolean) => void }): void {
  element.scrollIntoView(true)
}
