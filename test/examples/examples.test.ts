import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

import { describeEngines } from '../engines/use.ts'

const run = promisify(execFile)
const folder = new URL('../../examples/', import.meta.url)
const tsx = fileURLToPath(new URL('../../node_modules/tsx/dist/cli.mjs', import.meta.url))
const engines = ['sqlite', 'duckdb', 'postgres', 'mysql', 'mariadb', 'mongodb']

const readme = await readFile(new URL('README.md', folder), 'utf8')
const told = Array.from(
  readme.matchAll(/^`([\w-]+)`: [^`]*```text\n(.*?)^```/gms),
  ([, story = '', output = '']) => [story, output] as const,
)

test('the README of the examples tells what each story prints', async () => {
  const names = told.map(([story]) => `${story}.ts`).toSorted()
  const storiesIn = async (path: string): Promise<readonly string[]> =>
    (await readdir(new URL(path, folder))).filter((name) => name.endsWith('.ts')).toSorted()
  expect(names).toHaveLength(5)
  expect(await storiesIn('.')).toEqual(names)
  expect(await storiesIn('mongodb')).toEqual(names)
})

describeEngines(
  ({ name, server }) => {
    test.each(told)('%s prints what the README says', { timeout: 60_000 }, async (story, output) => {
      const ownFile = `${name}/${story}.ts`
      const command = existsSync(new URL(ownFile, folder)) ? [ownFile] : [`${story}.ts`, name]
      const { stdout, stderr } = await run(process.execPath, [tsx, ...command], {
        cwd: fileURLToPath(folder),
        env: { ...process.env, [`HOLDFAST_${name.toUpperCase()}_URL`]: server.url },
      })
      expect(stdout).toBe(output)
      expect(stderr, 'what went wrong meanwhile and was only told').not.toContain('HoldfastWarning')
    })
  },
  { only: engines },
)
