import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'

import { categories } from '../../src/core/category.ts'
import { supportMatrix } from '../../src/matrix.ts'
import { registry } from '../../src/registry.ts'
import { cli } from './terminal.ts'

async function output(...args: readonly string[]): Promise<string> {
  const printed = await cli(['matrix', ...args])
  expect(printed.exitCode).toBe(0)
  return printed.output
}

describe('holdfast matrix', () => {
  test('as Markdown is the table of the README', async () => {
    const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8')
    expect(readme).toContain(
      `<!-- generated: matrix -->\n\n${await output('--format', 'markdown')}\n<!-- /generated -->`,
    )
  })

  test('as JSON is what the library says', async () => {
    expect(JSON.parse(await output('--format', 'json'))).toEqual(supportMatrix())
    expect(JSON.parse(await output('mysql@5.7.44', '--format', 'json'))).toEqual(
      supportMatrix([{ dialect: 'mysql', version: '5.7.44' }]),
    )
  })

  test('as text has a row for each category and a column for each dialect, within the screen', async () => {
    const lines = (await output()).split('\n')
    for (const { title, versions } of Object.values({ ...registry })) {
      expect(lines.filter((line) => line.startsWith('lock '))).toContainEqual(
        expect.stringContaining(`${title} ${versions.assumed}`),
      )
    }
    for (const category of categories) expect(lines.some((line) => line.startsWith(category))).toBe(true)
    const table = lines.slice(
      0,
      lines.findIndex((line) => line.startsWith('native:')),
    )
    expect(table.filter((line) => line.length > 100)).toEqual([])
  })

  test('shows only the servers that are named, in their order', async () => {
    const page = await output('mysql@8.4', 'mysql@5.7.44', 'postgres', '--format', 'markdown')
    expect(page.split('\n')[0]).toBe('| lock | MySQL 8.4 | MySQL 5.7.44 | PostgreSQL 18 |')
    expect(page).toContain('| skip-locked | native, row | no | native, row |')
  })

  test('a version cannot break out of the table', async () => {
    const page = await output('postgres@18 | x\n', '--format', 'markdown')
    expect(page.split('\n')[0]).toBe(String.raw`| lock | PostgreSQL 18 \| x␊ |`)
  })

  test.each([
    ['an unknown dialect', ['postgres', 'oracle'], /"oracle" is not a dialect; use one of postgres/],
    ['a version that is none', ['sqlite@new'], /no version number in "new"/],
    ['an unknown format', ['--format', 'html'], /--format: "html" is not one of text, json, markdown/],
  ])('given %s, says so, shows the usage and ends with 2', async (_, args, message) => {
    const answer = await cli(['matrix', ...args])
    expect(answer.text).toMatch(message)
    expect(answer.text).toContain('Usage: holdfast matrix [dialect[@version]...]')
    expect(answer.exitCode).toBe(2)
  })
})
