import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, type TestContext } from 'vitest'

import { listPages } from '../../scripts/docs/page-list.ts'
import { openBrowser } from './browser.ts'
import { serve, type Served } from './serve.ts'

/*
 * The site as its readers have it: built from docs/, served, and opened in a real browser.
 */

const root = new URL('../../', import.meta.url)
const run = promisify(execFile)
const pages = (await listPages(root))
  .flatMap((chapter) => chapter.pages)
  .map(({ path, title }) => ({ title, at: path.replace(/^docs\//, '/').replace(/\.md$/, '.html') }))

const phone = { width: 390, height: 844 }
const desk = { width: 1280, height: 900 }

describe('the site', () => {
  let served: Served
  let browser: Browser | undefined
  let reason = ''

  beforeAll(async () => {
    // fails on a link to a page that is not there
    await run(process.execPath, ['node_modules/vitepress/bin/vitepress.js', 'build', 'site'], {
      cwd: fileURLToPath(root),
    })
    served = await serve(fileURLToPath(new URL('site/dist', root)))
    const opened = await openBrowser()
    if (!('unavailable' in opened)) browser = opened
    else if ((process.env.HOLDFAST_REQUIRE_EXTRA ?? '') !== '') throw new Error(opened.unavailable)
    else reason = opened.unavailable
  }, 600_000)
  afterAll(async () => {
    await browser?.close()
    await served?.stop()
  })

  const open = async ({ skip }: TestContext, viewport = desk): Promise<Page> =>
    (browser ?? skip(reason)).newPage({ viewport })

  test('has every page, whose links and anchors lead somewhere, and no script that fails', async (context) => {
    const page = await open(context)
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error.message}`))
    page.on('response', (response) => {
      if (response.status() >= 400) complaints.push(`${response.url()}: ${response.status()}`)
    })
    const anchors = new Map<string, ReadonlySet<string>>()
    const links: { readonly from: string; readonly to: string }[] = []
    for (const { at, title } of pages) {
      await page.goto(served.url + at)
      await page.locator('h1').first().waitFor()
      expect(await page.locator('h1').first().innerText(), at).toContain(title.replaceAll('`', ''))
      anchors.set(at, new Set(await page.locator('[id]').evaluateAll(idsOf)))
      links.push(...(await page.locator('a[href]').evaluateAll(targetsOf)).map((to) => ({ from: at, to })))
      for (const { src, naturalWidth } of await page.locator('img').evaluateAll(picturesOf))
        if (naturalWidth === 0) complaints.push(`${at}: ${src} shows nothing`)
    }
    for (const { from, to } of links) {
      const { origin, pathname, hash } = new URL(to)
      if (origin !== served.url) continue // the world outside of the site cannot be promised
      const place = pathname.endsWith('/') ? `${pathname}index.html` : pathname
      const ids = anchors.get(place)
      if (ids === undefined) complaints.push(`${from} leads to ${place}, which is no page`)
      else if (hash !== '' && !ids.has(decodeURIComponent(hash.slice(1))))
        complaints.push(`${from} leads to ${place}${hash}, which is no place on it`)
    }
    expect([...new Set(complaints)]).toEqual([])
    expect(links.length).toBeGreaterThan(pages.length)
  }, 180_000)

  test('can be read on a phone', async (context) => {
    const page = await open(context, phone)
    for (const { at } of pages) {
      await page.goto(served.url + at)
      // a table or a program may be scrolled by itself; the page may not
      const { scrollWidth, clientWidth } = await page.locator('html').evaluate(widthsOf)
      expect(scrollWidth, `${at} is wider than the screen`).toBeLessThanOrEqual(clientWidth)
      expect(
        Number.parseFloat(await page.locator('.vp-doc p').first().evaluate(fontSizeOf)),
        at,
      ).toBeGreaterThan(14)
    }
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.locator('.VPSidebar').getByRole('link', { name: 'Row locks' }).click()
    await page.locator('h1', { hasText: 'Row locks' }).waitFor()
  }, 180_000)

  test('finds a page by its words', async (context) => {
    const page = await open(context)
    await page.goto(`${served.url}/index.html`)
    await page.getByRole('button', { name: 'Search' }).first().click()
    await page.locator('#localsearch-input').fill('lease fence')
    await page.locator('.VPLocalSearchBox .result', { hasText: 'Leases' }).first().waitFor()
    await page.locator('#localsearch-input').fill('zzqqxx')
    await page.locator('.VPLocalSearchBox .no-results').waitFor()
  }, 600_000)
})

// These run in the browser. They name what they read, because the types of its world are not those of Node.

interface Picture {
  readonly src: string
  readonly naturalWidth: number
}

interface Widths {
  readonly scrollWidth: number
  readonly clientWidth: number
}

function idsOf(elements: readonly { readonly id: string }[]): readonly string[] {
  return elements.map(({ id }) => id)
}

function targetsOf(links: readonly unknown[]): readonly string[] {
  return (links as readonly { readonly href: string }[]).map(({ href }) => href)
}

function picturesOf(images: readonly unknown[]): readonly Picture[] {
  return (images as readonly Picture[]).map(({ src, naturalWidth }) => ({ src, naturalWidth }))
}

function widthsOf({ scrollWidth, clientWidth }: Widths): Widths {
  return { scrollWidth, clientWidth }
}

function fontSizeOf(element: unknown): string {
  const { getComputedStyle } = globalThis as unknown as {
    readonly getComputedStyle: (of: unknown) => { readonly fontSize: string }
  }
  return getComputedStyle(element).fontSize
}
