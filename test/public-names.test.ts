import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'

import { undocumented } from '../scripts/docs/api/undocumented.ts'
import { entryPoints, exportsOf, listPublicNames, namesFile } from './shape/public-names.ts'
import { readSource } from './shape/source.ts'

describe('the public names', () => {
  test('are the reviewed ones', async () => {
    const hint =
      'The public names changed. If that is meant, run `npm run public-names` and review test/public-names.txt.'
    expect(await listPublicNames(), hint).toBe(await readFile(namesFile, 'utf8'))
  })

  test('are there at run time, unless they are types', async () => {
    for (const [entry, path] of await entryPoints()) {
      const module = (await import(new URL(`../${path}`, import.meta.url).href)) as object
      const names = exportsOf(await readSource(path)).filter(({ isType }) => !isType)
      expect(Object.keys(module).toSorted(), entry).toEqual(names.map(({ name }) => name).toSorted())
    }
  })
})

describe('the reference in docs/api', () => {
  const texts = new Map<string, Promise<string>>()
  const readPage = (path: string): Promise<string> => {
    const text = texts.get(path) ?? readFile(new URL(`../docs/api/${path}`, import.meta.url), 'utf8')
    texts.set(path, text)
    return text
  }

  test('leads from every public name to its heading', async () => {
    const index = await readPage('index.md')
    const lines = (await readFile(namesFile, 'utf8')).trimEnd().split('\n')
    for (const line of lines) {
      const [entry = '', name = ''] = line.split(/ (?:type )?/)
      if (name === '*') continue // the names behind it are those of `holdfast`
      const [, section = ''] = index.split(`\n### \`${entry}\`\n`)
      const [, page = ''] =
        section
          .split('\n### ')[0]
          ?.split(`[\`${name}\`](`)[1]
          ?.match(/^([^#)]+)#/) ?? []
      expect(page, `${line} is not in docs/api/index.md`).not.toBe('')
      expect(await readPage(page), `${page} does not describe ${line}`).toMatch(
        new RegExp(`^#{2,3} ${name}$`, 'm'),
      )
    }
  })

  test('has a doc comment for every public name, and for every call, option and result', async () => {
    expect(await undocumented()).toEqual([])
  })
})

describe('the list of names', () => {
  test('reads every way of writing an export', () => {
    const text = [
      `export { a, b as c, type D } from './x.ts'`,
      `export type { E } from './y.ts'`,
      'export const f = 1, g = 2',
      'export async function h() {}',
      'export class I {}',
      'export interface J {}',
      'export type K = string',
      'const hidden = 1',
    ].join('\n')
    const names = exportsOf({ path: 'src/x.ts', text }).map(({ name, isType }) =>
      isType ? `type ${name}` : name,
    )
    expect(names).toEqual(['a', 'c', 'type D', 'type E', 'f', 'g', 'h', 'I', 'type J', 'type K'])
  })

  test('has the types that entries pass on together once, and a star for them in each', () => {
    const text = "export type * from '../result-types.ts'"
    expect(exportsOf({ path: 'src/entries/x.ts', text })).toEqual([{ name: '*', isType: true }])
  })

  test.each([`export * from './x.ts'`, `export type * from './x.ts'`, 'export default 1'])(
    'refuses %s',
    (text) => {
      expect(() => exportsOf({ path: 'src/x.ts', text })).toThrow('one by one')
    },
  )
})
