import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { regionsOf } from '../scripts/docs/regions.ts'
import { generatePages } from '../scripts/docs/update.ts'

const project = new URL('../', import.meta.url)

async function drifted(folder: URL): Promise<readonly string[]> {
  const pages = await generatePages(folder)
  return pages.filter(({ text, wanted }) => text !== wanted).map(({ page }) => page)
}

describe('the generated parts', () => {
  test('are what the code says', async () => {
    expect(await drifted(project), 'run npm run docs:write').toEqual([])
  })

  test('are there where they matter', async () => {
    const pages = await generatePages(project)
    const names = pages.flatMap(({ page, text }) => regionsOf(page, text).map(({ name }) => name))
    expect([...new Set(names)].toSorted()).toEqual(
      [
        'adapter-matrix',
        'adapters',
        'api',
        'cli',
        'dialect',
        'differences',
        'errors',
        'files',
        'matrix',
        'pages',
        'speed',
        'verified',
      ].toSorted(),
    )
  })
})

describe('in a copy of the pages', () => {
  let folder = ''
  let copy = project
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-pages-'))
    copy = pathToFileURL(`${folder}/`)
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  /** A folder with these pages only. */
  async function withPages(pages: Readonly<Record<string, string>>): Promise<void> {
    await rm(new URL('docs/', copy), { recursive: true, force: true })
    await mkdir(new URL('docs/', copy), { recursive: true })
    for (const [page, text] of Object.entries(pages)) await writeFile(new URL(`docs/${page}`, copy), text)
  }

  test('a changed cell is noticed, and nothing else', async () => {
    await cp(new URL('docs/', project), new URL('docs/', copy), { recursive: true })
    const before = await drifted(copy)
    expect(before).not.toContain('docs/matrix.md')
    const matrix = new URL('docs/matrix.md', copy)
    const text = await readFile(matrix, 'utf8')
    await writeFile(matrix, text.replace('| emulated, table |', '| native, row |'))
    expect(await drifted(copy)).toEqual([...before, 'docs/matrix.md'].toSorted())
  })

  test('words outside of the regions stay as they are', async () => {
    const [head, tail] = ['# A\n\nbefore  \n\n', '\n\nafter\n']
    await withPages({ 'a.md': `${head}<!-- generated: cli exit-codes -->\nold\n<!-- /generated -->${tail}` })
    const [page] = await generatePages(copy)
    expect(page?.wanted.startsWith(`${head}<!-- generated: cli exit-codes -->\n\n| exit code |`)).toBe(true)
    expect(page?.wanted.endsWith(`|\n\n<!-- /generated -->${tail}`)).toBe(true)
  })

  test('what was written once stays when it is written again', async () => {
    await withPages({ 'a.md': '# A\n\n<!-- generated: matrix -->\n<!-- /generated -->\n' })
    const [first] = await generatePages(copy)
    await withPages({ 'a.md': first?.wanted ?? '' })
    expect(await drifted(copy)).toEqual([])
  })

  test('a new page is in the index, with its first sentence', async () => {
    const index = '# Start\n\n<!-- generated: pages -->\n<!-- /generated -->\n'
    await withPages({ 'index.md': index, 'new-thing.md': '# New thing\n\nIt is [new](x.md). Really.\n' })
    const pages = await generatePages(copy)
    expect(pages[0]?.wanted).toContain('- [New thing](new-thing.md): It is new.\n')
  })

  const mistakes: readonly (readonly [string, string, string])[] = [
    [
      'an unknown name',
      '<!-- generated: nothing -->\n<!-- /generated -->',
      'docs/a.md:1: nothing is called nothing',
    ],
    ['a missing end', 'x\n<!-- generated: matrix -->', 'docs/a.md:2: the region is not closed'],
    ['an end too many', '<!-- /generated -->', 'docs/a.md:1: closes a region that was not opened'],
    [
      'a region in a region',
      '<!-- generated: matrix -->\n<!-- generated: cli -->\n<!-- /generated -->',
      'docs/a.md:2: the region of line 1 is not closed',
    ],
    ['a slip in a marker', '<!-- generated matrix -->\n', 'docs/a.md:1: write <!-- generated: name -->'],
    [
      'an unknown dialect',
      '<!-- generated: dialect oracle -->\n<!-- /generated -->',
      'docs/a.md:1: dialect: ',
    ],
    [
      'an unknown category',
      '<!-- generated: differences row -->\n<!-- /generated -->',
      'row is not a category',
    ],
    ['an unknown command', '<!-- generated: cli fly -->\n<!-- /generated -->', 'fly is not a command'],
    [
      'an unknown measure',
      '<!-- generated: files moon -->\n<!-- /generated -->',
      'takes one of dialect, category',
    ],
    ['words too many', '<!-- generated: pages all -->\n<!-- /generated -->', 'takes no arguments'],
  ]

  test.each(mistakes)('%s is an error that names the place', async (_, text, message) => {
    await withPages({ 'a.md': text })
    await expect(generatePages(copy)).rejects.toThrow(message)
  })

  test('a marker inside of a fence is text', async () => {
    const text = '# A\n\n````md\n```\n<!-- generated: nothing -->\n```\n````\n'
    await withPages({ 'a.md': text })
    expect(await drifted(copy)).toEqual([])
  })
})
