import { readFile, readdir } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'

import { adapterEntries } from '../../scripts/docs/adapter-entries.ts'
import { classesIn } from '../../scripts/docs/syntax.ts'
import { exitCodes } from '../../src/cli/command.ts'
import { errorKinds } from '../../src/core/error-kind.ts'
import { registry } from '../../src/registry.ts'
import { brokenLinks, missingPages, unreachablePages, type DocsPage } from './pages.ts'

const project = new URL('../../', import.meta.url)

async function readPages(): Promise<readonly DocsPage[]> {
  const names = await readdir(new URL('docs/', project), { recursive: true })
  const paths = names
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`)
  return Promise.all(
    ['README.md', 'CONTRIBUTING.md', ...paths].map(async (path) => ({
      path,
      text: await readFile(new URL(path, project), 'utf8'),
    })),
  )
}

describe('the pages', () => {
  let pages: readonly DocsPage[] = []
  beforeAll(async () => {
    pages = await readPages()
  })
  const textOf = (path: string): string => pages.find((page) => page.path === path)?.text ?? ''

  test('are there for every dialect and every adapter', async () => {
    const dialects = Object.keys(registry).map((name) => ({ what: name, path: `docs/dialects/${name}.md` }))
    const adapters = (await adapterEntries()).map(({ name }) => ({
      what: `holdfast/${name}`,
      path: `docs/adapters/${name}.md`,
    }))
    expect(dialects.length + adapters.length).toBeGreaterThan(10)
    expect(missingPages([...dialects, ...adapters], pages)).toEqual([])
  })

  test('are all reached from the first one', () => {
    const docs = pages.filter(({ path }) => path.startsWith('docs/'))
    expect(textOf('docs/index.md')).toContain('<!-- generated: pages -->')
    expect(unreachablePages('docs/index.md', docs)).toEqual([])
  })

  test('link to what is there', () => {
    expect(brokenLinks(pages)).toEqual([])
  })

  test('say what each dialect sends, by the program that writes it', () => {
    for (const name of Object.keys(registry)) {
      expect(textOf(`docs/dialects/${name}.md`)).toContain(`<!-- generated: dialect ${name} -->`)
    }
  })

  test('say about SQL Server that nothing ran there', () => {
    expect(textOf('docs/dialects/mssql.md')).toMatch(/Nothing on this page has run on a SQL Server/)
  })

  test('explain every class of error, and every kind', async () => {
    const text = textOf('docs/errors.md')
    const headings = text.split('\n').filter((line) => line.startsWith('### '))
    const classes = (await classesIn('src/core/errors.ts')).filter(({ fields }) => fields.has('name'))
    expect(classes.length).toBeGreaterThan(5)
    expect(classes.filter(({ name }) => !headings.some((line) => line.includes(name)))).toEqual([])
    const written = text.replaceAll(/<!-- generated.*?<!-- \/generated -->/gs, '')
    expect(errorKinds.filter((kind) => !written.includes(`\`${kind}\``))).toEqual([])
  })

  test('name every exit code', () => {
    const text = textOf('docs/cli.md')
    expect(Object.values(exitCodes).filter((code) => !text.includes(`| \`${code}\` |`))).toEqual([])
  })

  test('name every finding of the doctor', async () => {
    const missing: string[] = []
    for (const name of Object.keys(registry)) {
      const folder = new URL(`src/dialects/${name}/`, project)
      const files = (await readdir(folder)).filter((file) => file.startsWith('doctor'))
      const source = await Promise.all(files.map((file) => readFile(new URL(file, folder), 'utf8')))
      const ids = Array.from(source.join('\n').matchAll(/\bid: '([\w-]+)'/g), ([, id = '']) => id)
      // a dialect may say in its own file what its relative can find
      const near = pages.filter(
        ({ path, text }) => path === `docs/dialects/${name}.md` || text.includes(`](${name}.md#settings)`),
      )
      missing.push(
        ...ids
          .filter((id) => !near.some(({ text }) => text.includes(`\`${id}\``)))
          .map((id) => `${name}: ${id}`),
      )
    }
    expect(missing).toEqual([])
  })
})

describe('the check of pages', () => {
  const good: readonly DocsPage[] = [
    {
      path: 'docs/index.md',
      text: '# Start\n\nSee [one](dialects/one.md#what-it-does) and [all](#start).\n',
    },
    { path: 'docs/dialects/one.md', text: '# One\n\n## What it does\n\n[back](../index.md)\n' },
  ]

  test('finds nothing in pages that are whole', () => {
    expect([...brokenLinks(good), ...unreachablePages('docs/index.md', good)]).toEqual([])
    expect(missingPages([{ what: 'one', path: 'docs/dialects/one.md' }], good)).toEqual([])
  })

  test('finds a page that is missing', () => {
    expect(missingPages([{ what: 'two', path: 'docs/dialects/two.md' }], good)).toEqual([
      'two has no docs/dialects/two.md',
    ])
  })

  test('finds a page that nobody links to', () => {
    const lonely = { path: 'docs/lonely.md', text: '# Lonely\n\n[start](index.md)\n' }
    expect(unreachablePages('docs/index.md', [...good, lonely])).toEqual([
      'docs/lonely.md is not reached from docs/index.md',
    ])
  })

  test('finds links to nothing, but not in code', () => {
    const text =
      '# Two\n\n[a](gone.md) [b](index.md#gone) [c](https://a.example/b.md)\n\n```text\n[d](gone.md)\n```\n'
    expect(brokenLinks([...good, { path: 'docs/two.md', text }])).toEqual([
      'docs/two.md links to gone.md, which is not there',
      'docs/two.md links to index.md#gone, and docs/index.md has no such heading',
    ])
  })
})
