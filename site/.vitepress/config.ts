import { posix } from 'node:path'

import { defineConfig, type DefaultTheme } from 'vitepress'

import { listPages } from '../../scripts/docs/page-list.ts'

/** The pages are those of docs/; the order of the sidebar is that of the index in docs/index.md. */
async function sidebar(): Promise<DefaultTheme.SidebarItem[]> {
  const chapters = await listPages(new URL('../../', import.meta.url))
  return chapters.map(({ title, pages }) => ({
    text: title,
    collapsed: pages.length > 7,
    items: pages.map((page) => ({ text: page.title, link: linkTo(page.path) })),
  }))
}

function linkTo(path: string): string {
  const name = posix.relative('docs', path).replace(/\.md$/, '')
  return `/${name.replace(/(^|\/)index$/, '$1')}`
}

export default defineConfig({
  title: 'Holdfast',
  description: 'Database locks that mean the same thing on every database',
  lang: 'en',
  srcDir: '../docs',
  outDir: './dist',
  cacheDir: './.cache',
  // the pages are read in an editor as well, where a link ends in .md and a page in a folder of its own has an index
  cleanUrls: false,
  lastUpdated: false,
  metaChunk: true,
  themeConfig: {
    search: { provider: 'local' },
    sidebar: await sidebar(),
    nav: [
      { text: 'Getting started', link: '/getting-started' },
      { text: 'What each database gives', link: '/matrix' },
    ],
    outline: 'deep',
    externalLinkIcon: true,
  },
})
