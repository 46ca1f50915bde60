import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test, type TestContext } from 'vitest'

import { repositoryPage } from '../../scripts/address/fields.ts'
import { listPages } from '../../scripts/docs/page-list.ts'
import { html } from '../../src/conformance/reporters/html.ts'
import { registry } from '../../src/registry.ts'
import { sample } from '../reporters/sample.ts'
import { openBrowser } from './browser.ts'
import { allWidthsOf, colourOf, fontSizeOf, isAlive, picturesOf, widthsOf } from './in-browser.ts'
import { readBuilt, wrongLinks } from './links.ts'
import { serve, type Served } from './serve.ts'

/*
 * The site as its readers have it: built from docs/, served, and opened in a real browser.
 */

const root = new URL('../../', import.meta.url)
const dist = new URL('site/dist/', root)
const run = promisify(execFile)
const pages = (await listPages(root))
  .flatMap((chapter) => chapter.pages)
  .map(({ path, title }) => ({ title, at: path.replace(/^docs\//, '/').replace(/\.md$/, '.html') }))

const phone = { width: 360, height: 800 }
const desk = { width: 1280, height: 900 }

describe('the site', () => {
  let served: Served
  let browser: Browser | undefined
  let reason = ''

  beforeAll(async () => {
    // fails on a link to a page that is not there, and on a page whose own script fails: that writes its HTML
    const building = run(process.execPath, ['node_modules/vitepress/bin/vitepress.js', 'build', 'site'], {
      cwd: fileURLToPath(root),
    })
    const [opened] = await Promise.all([openBrowser(), building])
    served = await serve(fileURLToPath(dist))
    if (!('unavailable' in opened)) browser = opened
    else if ((process.env.HOLDFAST_REQUIRE_EXTRA ?? '') !== '') throw new Error(opened.unavailable)
    else reason = opened.unavailable
  }, 600_000)
  afterAll(async () => {
    await browser?.close()
    await served?.stop()
  })

  const open = async ({ skip }: TestContext, viewport = desk, javaScriptEnabled = true): Promise<Page> => {
    const page = await (browser ?? skip(reason)).newPage({ viewport, javaScriptEnabled })
    // only against hanging: a machine may be ten times slower
    page.setDefaultTimeout(240_000)
    return page
  }

  /** Until its scripts listen: a click on what is only drawn does nothing, and is waited for in vain. */
  const visit = async (page: Page, at: string): Promise<void> => {
    await page.goto(served.url + at)
    await page.waitForFunction(isAlive, undefined, { timeout: 0 })
  }

  test('has every page, whose links and anchors lead somewhere', async () => {
    const built = await Promise.all(pages.map(({ at }) => readBuilt(dist, at)))
    for (const [index, { title, at }] of pages.entries())
      expect(built[index]?.heading, at).toContain(title.replaceAll('`', ''))
    expect(wrongLinks(built)).toEqual([])
    expect(built.flatMap(({ links }) => links).length).toBeGreaterThan(pages.length)
  })

  test('can be read on a phone, and without a script', async (context) => {
    const page = await open(context, phone, false)
    for (const { at } of pages) {
      await page.goto(served.url + at)
      // a table or a program may be scrolled by itself; the page may not
      const { scrollWidth, clientWidth } = await page.locator('html').evaluate(widthsOf)
      expect(scrollWidth, `${at} is wider than the screen`).toBeLessThanOrEqual(clientWidth)
      const size = await page.locator('.vp-doc p').first().evaluate(fontSizeOf)
      expect(Number.parseFloat(size), at).toBeGreaterThan(14)
      for (const { src, naturalWidth } of await page.locator('img').evaluateAll(picturesOf))
        expect(naturalWidth, `${at}: ${src} shows nothing`).toBeGreaterThan(0)
    }
  }, 600_000)

  test('begins with the problem, a program, and what each database gives', async (context) => {
    const page = await open(context)
    const complaints = complaintsOn(page)
    await page.goto(`${served.url}/index.html`)
    await page.locator('.VPHero', { hasText: 'both sell it' }).waitFor()
    for (const { name, title } of Object.values(registry))
      await page.locator(`.VPFeature[href="/dialects/${name}.html"]`, { hasText: title }).waitFor()
    await page.locator('.vp-doc pre', { hasText: 'locks.transaction' }).first().waitFor()
    const icon = await page.locator('link[rel=icon]').getAttribute('href')
    expect((await fetch(`${served.url}${icon}`)).status).toBe(200)
    const manifest = JSON.parse(await readFile(new URL('package.json', root), 'utf8')) as object
    const address = repositoryPage(manifest)
    expect(await page.locator('.VPNavBar .VPSocialLink').count()).toBe(address === undefined ? 0 : 1)
    expect(complaints).toEqual([])
  })

  test('leads on by its menu, and shows alternatives behind tabs', async (context) => {
    const page = await open(context, phone)
    const complaints = complaintsOn(page)
    await visit(page, '/api/calls.html')
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.locator('.VPSidebar').getByRole('link', { name: 'Lock timeouts' }).click()
    await page.locator('h1', { hasText: 'Lock timeouts' }).waitFor()
    const group = page.locator('.vp-code-group', { hasText: 'PostgreSQL' }).first()
    const before = await group.locator('.active').innerText()
    await group.locator('label', { hasText: 'MySQL' }).click()
    expect(await group.locator('.active').innerText()).not.toBe(before)
    expect(complaints).toEqual([])
  })

  test('is dark for those who want it', async (context) => {
    const page = await open(context)
    await visit(page, '/matrix.html')
    const light = await page.locator('body').evaluate(colourOf)
    await page.locator('.VPNavBarAppearance button').click()
    await page.locator('html.dark').waitFor()
    expect(await page.locator('body').evaluate(colourOf)).not.toBe(light)
  })

  test('finds a page by its words', async (context) => {
    const page = await open(context)
    await visit(page, '/matrix.html')
    await page.getByRole('button', { name: 'Search' }).first().click()
    await page.locator('#localsearch-input').fill('lease fence')
    await page.locator('.VPLocalSearchBox .result', { hasText: 'Leases' }).first().waitFor()
    await page.locator('#localsearch-input').fill('zzqqxx')
    await page.locator('.VPLocalSearchBox .no-results').waitFor()
  }, 600_000)

  test('is joined by a report of the laws that fits on a phone and on a desk', async (context) => {
    for (const viewport of [phone, desk]) {
      const page = await open(context, viewport)
      await page.setContent(html(sample))
      for (const part of ['html', 'h1', '.banner', 'thead th']) {
        for (const { scrollWidth, clientWidth } of await page.locator(part).evaluateAll(allWidthsOf))
          expect(scrollWidth, `${part} at ${viewport.width} pixels`).toBeLessThanOrEqual(clientWidth)
      }
    }
  })
})

/** Filled with every script that fails, and every file that is not there. */
function complaintsOn(page: Page): readonly string[] {
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error.message}`))
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.url()}: ${response.status()}`)
  })
  return complaints
}
