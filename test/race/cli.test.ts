import { execFile } from 'node:child_process'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeEach, describe, expect, test, vi } from 'vitest'

import { cli, program } from '../cli/terminal.ts'

const book = fileURLToPath(new URL('book.ts', import.meta.url))

describe('holdfast race', () => {
  // each command closes the pool of its file: the next one needs the file anew
  beforeEach(() => void vi.resetModules())

  test('shows the order that breaks, writes a page, and ends the pool of the file', async () => {
    const page = join(await mkdtemp(join(tmpdir(), 'race-')), 'race.html')
    const { output, exitCode } = await cli(['race', book, '--html', page, '--switches', '1'])
    expect(exitCode).toBe(1)
    expect(output).toContain('wrong in the order a b b a')
    expect(output).toContain('✗ the invariant broke: sold twice')
    expect(await readFile(page, 'utf8')).toContain('sold twice')
  })

  test('does not end well where nobody has ever succeeded', async () => {
    const file = fileURLToPath(new URL('failing-book.ts', import.meta.url))
    const { output, exitCode } = await cli(['race', file])
    expect([exitCode, output]).toEqual([1, expect.stringContaining('a succeeded in no schedule')])
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

  test('shows the order although the page cannot be written', async () => {
    const { output, text, exitCode } = await cli(['race', book, '--html', join(book, 'race.html')])
    expect([exitCode, text]).toEqual([4, expect.stringContaining('cannot write the page')])
    expect(output).toContain('sold twice')
  })

  test('a reset that fails does not end as a race does', async () => {
    const { text, exitCode } = await cli(['race', fileURLToPath(new URL('broken-book.ts', import.meta.url))])
    expect([exitCode, text]).toEqual([
      3,
      expect.stringMatching(/could not be explored: .*no such table: shelf/),
    ])
  })

  test('says how to run a file in TypeScript', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'race-')), 'book.unknown')
    await writeFile(file, '')
    // in a process of its own: vitest loads files of every kind
    const run = promisify(execFile)(process.execPath, [await program(), 'race', file])
    await expect(run).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('node --import tsx') as string,
    })
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
