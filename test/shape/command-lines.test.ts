import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Runs a script of the project with words that it cannot understand. */
function run(script: string, word: string): { readonly status: number | null; readonly said: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', script, word], {
    cwd: root,
    encoding: 'utf8',
  })
  return { status, said: stdout + stderr }
}

test('a misspelt option of the lock file script is refused, and nothing is written', async () => {
  const lockfile = (): Promise<string> => readFile(`${root}package-lock.json`, 'utf8')
  const before = await lockfile()
  const { status, said } = run('scripts/lockfile.ts', '--chekc')
  expect(said).toMatch(/^Unknown option '--chekc'.*\n$/)
  expect(status).toBe(1)
  expect(await lockfile()).toBe(before)
})

test('a Node that is none is refused in one line', () => {
  expect(run('scripts/other-nodes.ts', 'nonsense')).toEqual({
    status: 1,
    said: 'Node nonsense is not one of 20, 22, 24\n',
  })
})
