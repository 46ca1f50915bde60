import { readFile } from 'node:fs/promises'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'

import { defineConfig, type DefaultTheme } from 'vitepress'

import { repositoryPage } from '../../scripts/address/fields.ts'
import { listPages } from '../../scripts/docs/page-list.ts'
import { home } from './home.ts'
import { forSearch, forSite } from './markdown.ts'

/** The pages are those of docs/; the order of the sidebar is that of the index in docs/index.md. */
async function sidebar(): Promise<DefaultTheme.SidebarItem[]> {
  const chapters = await listPages(new URL('../../', import.meta.url))
  return chapters.map(({ title, pages }) => ({
    text: title,
    collapsed: pages.length > 12,
    items: pages.map((page) => ({ text: page.title, link: linkTo(page.path) })),
  }))
}

function linkTo(path: string): string {
  const name = posix.relative('docs', path).replace(/\.md$/, '')
  return `/${name.replace(/(^|\/)index$/, '$1')}`
}

/** A link to the repository, once the project has an address. */
async function repositoryLinks(): Promise<DefaultTheme.SocialLink[]> {
  const manifest = JSON.parse(
    await readFile(new URL('../../package.json', import.meta.url), 'utf8'),
  ) as object
  const link = repositoryPage(manifest)
  return link === undefined ? [] : [{ icon: 'git', link, ariaLabel: 'Repository' }]
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
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/favicon.svg' }]],
  markdown: { config: forSite },
  vite: { publicDir: fileURLToPath(new URL('../public', import.meta.url)) },
  transformPageData: (page) => {
    if (page.relativePath === 'index.md') Object.assign(page.frontmatter, home)
  },
  themeConfig: {
    search: { provider: 'local', options: { _render: forSearch } },
    sidebar: await sidebar(),
    nav: [
      { text: 'Getting started', link: '/getting-started' },
      { text: 'What each database gives', link: '/matrix' },
      { text: 'API', link: '/api/' },
    ],
    socialLinks: await repositoryLinks(),
    outline: 'deep',
    externalLinkIcon: true,
  },
})
