import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { describe, expect, test } from 'vitest'

import { placeOf, readPage, root } from './docs/page.ts'

const run = promisify(execFile)
const { fences } = await readPage('README.md')
const shells = fences.filter(({ language, text }) => language === 'sh' && text.startsWith('npm ci'))

/*
 * The programs of the README run in docs/docs.test.ts, and with its commands for newcomers in newcomer.test.ts. Those for
 * contributors begin with `npm ci`, which would take away the packages that this test runs with; .ci/run does so on a
 * new machine.
 */
const commands: Readonly<Record<string, () => Promise<void>>> = {
  'npm ci && npm run verify': async () => {
    // the command itself, on one law of more than a hundred: all of them are tests of their own here
    const { stdout } = await run('npm', ['run', 'verify', '--', '--law', 'R1'], {
      cwd: fileURLToPath(root),
      shell: process.platform === 'win32', // npm is a script there
    })
    expect(stdout).toMatch(/^row-exclusive +stronger 1 +emulated 1/m)
    expect(stdout).toMatch(/ 0 broken, /)
  },
  'npm ci && npm test': async () => {
    // this is running it
    const script = await readFile(new URL('.ci/run', root), 'utf8')
    expect(script).toMatch(/^ *npm ci && npm test\b/m)
  },
}

describe('the commands for contributors', () => {
  test('are these two', () => {
    expect(shells.map(({ text }) => text.trim())).toEqual(Object.keys(commands))
  })

  for (const fence of shells) {
    const command = fence.text.trim()
    test(`${placeOf(fence)}: ${command}`, { timeout: 600_000 }, async () => {
      await commands[command]?.()
    })
  }
})
