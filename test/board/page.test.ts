import type { Locator, Page } from 'playwright-core'
import { beforeAll, expect, test, type TestContext } from 'vitest'

import { meet } from '../../src/locks.ts'
import { registry, type DialectName } from '../../src/registry.ts'
import { subjects } from '../adapters/subject.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import type { EngineSession } from '../engines/engine.ts'
import { widthsOf } from '../site/in-browser.ts'
import { startRelay } from './relay.ts'
import { useBrowser, withBoard } from './stage.ts'

/*
 * The board as its readers have it: a real browser, and real servers on which sessions really wait.
 */

const browserOf = useBrowser()

/** Only against hanging. */
const patience = { timeout: 240_000 }

describeEngines(specs, { only: ['postgres', 'mysql', 'mariadb'] })

/** What cannot be shown as markup stays text. */
const nasty = '<script>document.title = "hacked"</script><img src=x onerror=document.title=0>'

interface Scene {
  readonly holder: EngineSession
  readonly waiter: EngineSession
  /** Settles with how the waiter's statement has ended. */
  readonly waited: Promise<'done' | 'failed'>
}

function specs(context: EngineContext): void {
  const url = (): string => context.engine.server.url
  const update = { sql: `UPDATE board_row SET n = n + 1 WHERE id = 1`, params: [] }
  const wait = {
    sql: `UPDATE board_row SET n = n + 1 WHERE id = 1 AND '${nasty}' <> ''`,
    params: [],
  }

  beforeAll(async () => {
    const session = await context.engine.open()
    await session.run({
      sql: 'CREATE TABLE board_row (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)',
      params: [],
    })
    await session.run({ sql: 'INSERT INTO board_row VALUES (1, 0)', params: [] })
    await session.close()
  })

  /** One session has a row that another one waits for. */
  async function withWait(use: (scene: Scene) => Promise<void>): Promise<void> {
    const [holder, waiter] = [await context.engine.open(), await context.engine.open()]
    await holder.begin()
    await holder.run(update)
    await waiter.begin()
    const waited = waiter.run(wait).then(
      () => 'done' as const,
      () => 'failed' as const,
    )
    try {
      await until(() => context.engine.isWaiting(waiter), 'a session that waits')
      await use({ holder, waiter, waited })
    } finally {
      await holder.rollback().catch(() => {})
      await waited
      await waiter.rollback().catch(() => {})
      await Promise.allSettled([holder.close(), waiter.close()])
    }
  }

  async function openPage(task: TestContext, address: string, width = 1280): Promise<Page> {
    const page = await browserOf(task).newPage({ viewport: { width, height: 900 } })
    task.onTestFinished(() => page.close())
    await page.goto(address)
    return page
  }

  const rowOf = (page: Page, { id }: EngineSession): Locator =>
    page
      .locator('#locks tbody tr')
      .filter({ has: page.locator('strong', { hasText: new RegExp(`^${id}$`) }) })

  test('a wait appears below its holder, as text and nothing else, and is gone after the commit', async (task) => {
    await withBoard([url()], async ({ address }) => {
      const page = await openPage(task, address)
      await page.locator('.pill.live').waitFor(patience)
      await withWait(async ({ holder, waiter, waited }) => {
        const row = rowOf(page, waiter)
        await row.waitFor(patience)
        await expect(row.getAttribute('class')).resolves.toContain('below waiting')
        const text = await row.innerText()
        expect(text).toContain(`waits for ${holder.id}`)
        expect(text).toContain('board_row')
        expect(text).toContain(nasty)
        await rowOf(page, holder).getByText('1 behind it').waitFor(patience)
        expect(await page.locator('body img, table script').count()).toBe(0)
        expect(await page.title()).toBe('(1 waiting) Holdfast board')
        expect(await page.locator('button.end:visible').count()).toBe(0)
        await holder.commit()
        expect(await waited).toBe('done')
        await row.and(page.locator('.waiting')).waitFor({ state: 'detached', ...patience })
      })
      await page.getByText('Nobody holds a lock or waits for one.').waitFor(patience)
    })
  })

  test('a session is ended after a question, and another only loses its statement', async (task) => {
    await withBoard(['--allow-kill', url()], async ({ address, printed }) => {
      const page = await openPage(task, address)
      const dialog = page.locator('dialog[open]')
      await withWait(async ({ waiter, waited }) => {
        await rowOf(page, waiter).locator('button.end').click(patience)
        expect(await dialog.innerText()).toContain(waiter.id)
        await dialog.getByText('Leave it').click()
        expect(await context.engine.isWaiting(waiter)).toBe(true)
        await rowOf(page, waiter).locator('button.end').click(patience)
        await dialog.locator('[data-way=cancel]').click()
        expect(await waited).toBe('failed')
        await dialog.waitFor({ state: 'detached', ...patience })
        expect(printed()).toContain(`cancelled what is run by session ${waiter.id}`)
      })
      await withWait(async ({ holder, waited }) => {
        await rowOf(page, holder).locator('button.end').click(patience)
        await dialog.locator('[data-way=end]').click()
        // its locks are given up, so that the other one gets them
        expect(await waited).toBe('done')
        await rowOf(page, holder).waitFor({ state: 'detached', ...patience })
        await expect(holder.run({ sql: 'SELECT 1', params: [] })).rejects.toThrow()
        expect(printed()).toContain(`ended session ${holder.id}`)
      })
    })
  })

  test('only sessions that are shown can be ended, and only by the page', async () => {
    await withBoard(['--allow-kill', url()], async ({ address }) => {
      const { origin, pathname } = new URL(address)
      const own = {
        origin,
        'content-type': 'application/json',
        authorization: `Bearer ${pathname.slice(1, -1)}`,
      }
      const end = async (id: string, headers: Record<string, string> = own): Promise<number> => {
        const body = JSON.stringify({ id, way: 'end' })
        return (await fetch(`${address}end`, { method: 'POST', headers, body })).status
      }
      await withWait(async ({ holder, waiter }) => {
        const seen = new AbortController()
        const { body } = await fetch(`${address}events`, { signal: seen.signal })
        let told = ''
        for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) {
          told += part
          if (told.includes(`"id":"${waiter.id}"`)) break
        }
        expect(await end(holder.id, { ...own, origin: 'http://evil.example' })).toBe(403)
        expect(await end(holder.id, { ...own, authorization: 'Bearer x' })).toBe(403)
        expect(await end(`${holder.id} OR 1=1`)).toBe(409)
        expect(await end('1')).toBe(409)
        expect((await fetch(`${address}end?id=${holder.id}&way=end`)).status).toBe(405)
        expect(await context.engine.isWaiting(waiter)).toBe(true)
        expect(await end(waiter.id)).toBe(204)
        seen.abort()
      })
    })
  })

  test('a server that goes away is shown, and found again', async (task) => {
    const relay = await startRelay(url())
    task.onTestFinished(relay.takeAway)
    await withBoard([relay.url], async ({ address }) => {
      const page = await openPage(task, address)
      await page.locator('.pill.live').waitFor(patience)
      await relay.takeAway()
      const banner = page.locator('.banner.old')
      await banner.getByText('No answer from the database').waitFor(patience)
      expect(await banner.innerText()).toMatch(/for \d+ s: .*These figures are \d+ s old/)
      await relay.putBack()
      await page.locator('.pill.live').waitFor(patience)
      await banner.waitFor({ state: 'hidden', ...patience })
    })
  })

  test('a network that swallows everything does not freeze the page, and is noticed', async (task) => {
    const relay = await startRelay(url())
    task.onTestFinished(relay.takeAway)
    await withBoard([relay.url], async ({ address }) => {
      const page = await openPage(task, address)
      await page.locator('.pill.live').waitFor(patience)
      relay.fallSilent()
      await page.locator('.banner.old').getByText('No answer from the database').waitFor(patience)
      // it still does what it is asked
      await page.keyboard.press('/')
      await page.keyboard.type('abc')
      expect(await page.locator('#search').inputValue()).toBe('abc')
      relay.speak()
      await page.locator('.pill.live').waitFor(patience)
    })
  })

  test('leases and a queue are shown with their figures, and a key with markup in it stays text', async (task) => {
    const subject = subjects.find(
      ({ title, engines }) => !title.startsWith('kysely') && engines.includes(context.name),
    )
    const connected = await subject?.connect(url())
    if (connected === undefined) throw new Error('no adapter reaches the engine')
    task.onTestFinished(connected.close)
    const locks = meet(connected.sessions, [registry[context.name as DialectName]]).shared
    const lease = await locks.lease([nasty, 7], { ttlMs: 600_000 })
    const session = await context.engine.open()
    await session.run({
      sql: 'CREATE TABLE board_job (id INTEGER PRIMARY KEY, at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, token VARCHAR(36), until BIGINT)',
      params: [],
    })
    await session.run({ sql: 'INSERT INTO board_job (id) VALUES (1), (2), (3)', params: [] })
    await session.close()
    const described = {
      table: 'board_job',
      id: 'id',
      orderBy: 'id',
      claim: { token: 'token', until: 'until' },
      done: 'delete',
      storedAt: 'at',
    }
    await withBoard(['--queue', JSON.stringify(described), url()], async ({ address }) => {
      const page = await openPage(task, address)
      const row = page.locator('#leases tbody tr')
      await row.waitFor(patience)
      expect(await row.innerText()).toContain(`${nasty}.7`)
      expect(await row.innerText()).toMatch(/[5-9] min/)
      expect(await page.title()).toBe('Holdfast board')
      expect(await page.locator('body img').count()).toBe(0)
      const cells = page.locator('#queues tbody td')
      await cells.first().waitFor(patience)
      expect((await cells.allInnerTexts()).slice(0, 4)).toEqual(['board_job', '3', '0', '0'])
      expect(await cells.nth(5).innerText()).toMatch(/^\d+ (?:ms|s|min.*)$/)
    })
    await lease.release()
  })
}

/** When the looks were made that a page is told of, until it has heard of four. */
async function looksToldTo(address: string): Promise<ReadonlySet<number>> {
  const leave = new AbortController()
  const { body } = await fetch(`${address}events`, { signal: leave.signal })
  let text = ''
  for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part
    const looks = new Set([...text.matchAll(/\{"at":(\d+),/g)].map(([, at]) => Number(at)))
    if (looks.size < 4) continue
    leave.abort()
    return looks
  }
  throw new Error('the stream has ended')
}

describeEngines(
  (context) => {
    const open = async (task: TestContext, address: string, width: number): Promise<Page> => {
      const page = await browserOf(task).newPage({ viewport: { width, height: 800 } })
      task.onTestFinished(() => page.close())
      await page.goto(address)
      await page.locator('.pill.live').waitFor(patience)
      return page
    }

    test('nothing of the password is in the page, in what it is told, or in what is printed', async (task) => {
      const relay = await startRelay(context.engine.server.url)
      task.onTestFinished(relay.takeAway)
      const secret = 'p4ssw0rd-of-the-board'
      const address = new URL(relay.url)
      address.password = secret
      await withBoard([address.href], async (board) => {
        const page = await open(task, board.address, 1280)
        const told: string[] = []
        const seen = new AbortController()
        const stream = await fetch(`${board.address}events`, { signal: seen.signal })
        const reading = (async () => {
          for await (const part of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) told.push(part)
        })().catch(() => {})
        await relay.takeAway()
        await page.locator('.banner.old').waitFor(patience)
        await until(() => told.join('').includes('"failure"'), 'a failure that is told')
        seen.abort()
        await reading
        for (const text of [await page.content(), told.join(''), board.printed()]) {
          expect(text).not.toContain(secret)
          expect(text.length).toBeGreaterThan(100)
        }
      })
    })

    test('pages are told of the same looks', async () => {
      await withBoard([context.engine.server.url], async ({ address }) => {
        const all = await Promise.all(Array.from({ length: 5 }, () => looksToldTo(address)))
        const begin = Math.max(...all.map((looks) => Math.min(...looks)))
        const end = Math.min(...all.map((looks) => Math.max(...looks)))
        const common = all.map((looks) =>
          [...looks].filter((at) => at >= begin && at <= end).toSorted((a, b) => a - b),
        )
        for (const looks of common) expect(looks).toEqual(common[0])
      })
    })

    test('it fits on a phone, and shows what it has', async (task) => {
      await withBoard([context.engine.server.url], async ({ address }) => {
        const page = await open(task, address, 360)
        const { scrollWidth, clientWidth } = await page.locator('html').evaluate(widthsOf)
        expect(scrollWidth).toBeLessThanOrEqual(clientWidth)
        for (const name of ['Locks', 'Leases', 'Queues', 'Deadlocks'])
          expect(await page.getByRole('heading', { name: new RegExp(`^${name}`) }).isVisible()).toBe(true)
      })
    })

    test('it is used with the keyboard alone', async (task) => {
      await withBoard([context.engine.server.url], async ({ address, printed }) => {
        const page = await open(task, address, 1280)
        await page.keyboard.press('k')
        await page.keyboard.type('orders')
        expect(await page.locator('#key').inputValue()).toBe('orders')
        await page.keyboard.press('Escape')
        expect(await page.locator('#key').inputValue()).toBe('')
        await page.keyboard.press('p')
        await page.locator('.pill.paused').waitFor(patience)
        expect(await page.getByRole('button', { name: 'Resume' }).getAttribute('aria-pressed')).toBe('true')
        await page.keyboard.press('p')
        await page.locator('.pill.live').waitFor(patience)
        const reached: string[] = []
        await page.reload()
        await page.locator('.pill.live').waitFor(patience)
        await page.keyboard.press('Tab')
        for (let step = 0; step < 7; step += 1) {
          reached.push(
            (await page.locator(':focus').innerText()) ||
              (await page.locator(':focus').getAttribute('id')) ||
              '',
          )
          await page.keyboard.press('Tab')
        }
        expect(reached).toEqual(
          expect.arrayContaining(['Skip to the locks', 'Pause', 'search', 'key', 'Locks']),
        )
        expect(printed()).not.toContain('Error')
      })
    })

    test('the board itself that goes away is shown, and found again', async (task) => {
      const args = [context.engine.server.url]
      let port = ''
      const page = await withBoard(['--no-token', ...args], async ({ address }) => {
        ;({ port } = new URL(address))
        return open(task, address, 1280)
      })
      await page.locator('.banner.old').getByText('The program that serves this page').waitFor(patience)
      await withBoard(['--no-token', '--port', port, ...args], async () => {
        await page.locator('.pill.live').waitFor(patience)
      })
    })
  },
  { only: ['postgres'] },
)
