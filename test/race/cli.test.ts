import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

import { cli } from '../cli/terminal.ts'

const book = fileURLToPath(new URL('book.ts', import.meta.url))

describe('holdfast race', () => {
  test('shows the order that breaks, writes a page, and ends the pool of the file', async () => {
    const page = join(await mkdtemp(join(tmpdir(), 'race-')), 'race.html')
    const { output, exitCode } = await cli(['race', book, '--html', page, '--switches', '1'])
    expect(exitCode).toBe(1)
    expect(output).toContain('wrong in the order a b b a')
    expect(output).toContain('✗ the invariant broke: sold twice')
    expect(await readFile(page, 'utf8')).toContain('sold twice')
  })

  test.each([
    ['no file', [], /name a file/],
    ['two files', [book, book], /one file at a time/],
    ['a file that is not there', ['./none.mjs'], /cannot load/],
    ['no number', [book, '--seed', 'x'], /not a whole number/],
  ])('refuses %s', async (_, args, words) => {
    const { text, exitCode } = await cli(['race', ...args])
    expect([exitCode, words.test(text)]).toEqual([2, true])
  })

  test('refuses a file without options, and options that are none', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'race-'))
    await writeFile(join(folder, 'empty.mjs'), 'export const x = 1')
    await writeFile(join(folder, 'wrong.mjs'), 'export default { db: {}, actors: { a() {}, b() {} } }')
    expect((await cli(['race', join(folder, 'empty.mjs')])).text).toMatch(/no default export/)
    expect((await cli(['race', join(folder, 'wrong.mjs')])).text).toMatch(
      /nothing whose statements can be held back/,
    )
  })
})
