import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import type { Report } from '../../src/conformance/report.ts'
import { intoDatabase } from '../engines/own-database.ts'
import { connectPostgres } from '../engines/postgres-session.ts'
import { describeEngines, startPrivate, until, type PrivateServer } from '../engines/use.ts'
import { scratchOn } from './scratch.ts'
import { cli } from './terminal.ts'

/** Whether a law has its table in this database now. */
async function runsLaw(url: string): Promise<boolean> {
  const client = await connectPostgres(url)
  try {
    return (await client.query("SELECT FROM pg_class WHERE relname LIKE 'law%'")).rowCount !== 0
  } finally {
    await client.end()
  }
}

describe('holdfast verify', () => {
  test('without an address runs the laws on the embedded engines, and prints the matrix', async () => {
    const { output, exitCode, progress } = await cli(['verify', '--law', 'R1', '--law', 'N1'])
    expect(output).toMatch(/^row-exclusive +stronger 1 +emulated 1 +native 1/m)
    expect(output).toMatch(/6 laws on 3 databases: 5 hold, 0 broken/)
    expect(progress).toContain('SQLite, embedded')
    expect(exitCode).toBe(0)
  })

  test('without an address says from the beginning what it does, and at the end how to see more', async () => {
    const { progress } = await cli(['verify', '--law', 'R1'])
    const lines = progress.trimEnd().split('\n')
    expect(lines[0]).toBe('preparing SQLite, DuckDB, PostgreSQL')
    const firstLaw = lines.findIndex((line) => line.endsWith('R1'))
    expect(lines.slice(1, firstLaw).toSorted()).toEqual([
      'DuckDB is ready',
      'PostgreSQL is being set up',
      'PostgreSQL is being started',
      'PostgreSQL is ready',
      'SQLite is ready',
    ])
    const address = 'mysql://user:password@localhost:3306/database'
    expect(lines.at(-1)).toBe(`For more databases, name a server: npx holdfast verify ${address}`)
    expect(lines.filter((line) => line.startsWith('For more'))).toHaveLength(1)
  })

  test('writes reports into files, each in its own form', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-reports-'))
    try {
      const names = ['json', 'junit', 'markdown', 'html'] as const
      const reporters = names.flatMap((name) => ['--reporter', `${name}:${join(folder, name)}`])
      const { output, exitCode } = await cli(['verify', '--law', 'R1', '--seed', '7', ...reporters])
      expect({ output, exitCode }).toEqual({ output: '', exitCode: 0 })
      const text = (name: string): Promise<string> => readFile(join(folder, name), 'utf8')
      const report = JSON.parse(await text('json')) as Report
      expect(report).toMatchObject({
        seed: 7,
        subjects: [{ results: [{ id: 'R1', verdict: 'holds' }] }, {}, {}],
      })
      expect(await text('junit')).toMatch(/^<\?xml/)
      expect(await text('markdown')).toMatch(/\| row-exclusive/)
      expect(await text('html')).toMatch(/^<!doctype html>/i)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  test('ends with 1 when a law is broken', async () => {
    // T1 waits for a lock longer than it is given
    const { output, exitCode } = await cli(['verify', '--law', 'T1', '--timeout', '1'])
    expect(output).toMatch(/ 0 hold, \d broken/)
    expect(exitCode).toBe(1)
  })

  /** Runs laws on the embedded engines, and interrupts when this is said. */
  const interrupted = (words: RegExp): ReturnType<typeof cli> => {
    const interrupt = new AbortController()
    return cli(['verify', '--law', 'R1', '--law', 'N1'], interrupt.signal, (text) => {
      if (words.test(text)) interrupt.abort(new Error('interrupted'))
    })
  }

  test('that is interrupted while it prepares says that no database was begun', async () => {
    const { output, exitCode, progress } = await interrupted(/PostgreSQL is being set up/)
    expect(output).toContain(
      '0 laws on 3 databases: 0 hold, 0 broken, 0 refused, 0 not promised, 3 databases not begun;',
    )
    for (const name of ['SQLite', 'DuckDB', 'PostgreSQL'])
      expect(output).toMatch(new RegExp(`^  ${name}, embedded, .*\\n    not begun: interrupted$`, 'm'))
    expect(progress).not.toContain('is left out')
    expect(exitCode).toBe(130)
  })

  test('that is interrupted later says which were done, and which were not', async () => {
    const { output, exitCode } = await interrupted(/DuckDB, embedded.*: \w1/)
    expect(output).toMatch(
      /^2 laws on 3 databases: .*, 1 database not run to the end, 1 database not begun; took/m,
    )
    expect(output).toMatch(/^ {2}DuckDB, embedded.*\n {4}interrupted before all laws had run/m)
    expect(output).toMatch(/^ {2}PostgreSQL, embedded.*\n {4}not begun: interrupted$/m)
    expect(exitCode).toBe(130)
  })

  test('with --bail says which databases were not begun', async () => {
    const { output, exitCode } = await cli(['verify', '--law', 'T1', '--timeout', '1', '--bail'])
    expect(output).toContain('1 law on 3 databases: 0 hold, 1 broken')
    expect(output).toContain(', 2 databases not begun;')
    expect(output).toContain('not begun: a law was broken, and --bail was given')
    expect(exitCode).toBe(1)
  })

  test('lists the laws', async () => {
    const { output, exitCode } = await cli(['verify', '--list'])
    expect(output).toMatch(/^R1 +row-exclusive$/m)
    expect(exitCode).toBe(0)
  })

  test.each([
    ['an unknown law', ['--law', 'Z9'], /no law "Z9"/],
    ['an unknown category', ['--category', 'rows'], /"rows" is not one of row-exclusive/],
    ['an unknown reporter', ['--reporter', 'pdf'], /"pdf" is not one of terminal/],
    ['no number', ['--repeat', 'often'], /--repeat: "often" is not a whole number/],
    ['an option that is none', ['--laws'], /--laws/],
    [
      'a report that cannot be written',
      ['--reporter', 'json:/no/such/folder/x.json'],
      /cannot write the file: ENOENT/,
    ],
    ['an empty database without an address', ['--use-empty'], /give the address/],
  ])('refuses %s', async (_, args, message) => {
    const { output, exitCode } = await cli(['verify', ...args])
    expect(output).toMatch(message)
    expect(exitCode).toBe(2)
  })

  test.each([
    ['an unknown kind of address', 'redis://localhost', /postgres:/, 2],
    ['no address at all', 'localhost', /postgres:/, 2],
    [
      'a server that is not there',
      'postgres://u:hidden@127.0.0.1:1/x',
      /cannot reach\s+postgres:..127\.0\.0\.1:1/,
      3,
    ],
  ])('says what is wrong with %s', async (_, url, message, ends) => {
    const { output, exitCode } = await cli(['verify', url])
    expect(output).toMatch(message)
    expect(output).not.toContain('hidden')
    expect(exitCode).toBe(ends)
  })
})

describeEngines(
  () => {
    // of its own: what it has of scratch databases is looked at, and at last it dies
    let server: PrivateServer | undefined
    let url = ''
    beforeAll(async () => {
      const started = await startPrivate('postgres')
      if ('unavailable' in started) throw new Error(started.unavailable)
      server = started
      ;({ url } = started.server)
    })
    afterAll(() => server?.stop())

    test('ends with 1 when a law is broken on one of the databases', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'holdfast-verify-'))
      try {
        // what T5 promises is no matter where a row is the whole database; elsewhere it takes longer than it is given
        const urls = [url, join(folder, 'other.sqlite')]
        const { output, exitCode } = await cli(['verify', ...urls, '--law', 'T5', '--timeout', '1'])
        expect(output).toMatch(/2 laws on 2 databases: 0 hold, 1 broken, 0 refused, 1 not promised/)
        expect(exitCode).toBe(1)
      } finally {
        await rm(folder, { recursive: true })
      }
    })

    test('leaves no database behind', async () => {
      const { output, exitCode } = await cli(['verify', url, '--law', 'R1'])
      expect(output).toContain('1 law on 1 database: 1 hold, 0 broken')
      expect(exitCode).toBe(0)
      expect(await scratchOn(url)).toEqual([])
    })

    test('that is interrupted leaves no database behind, and ends with 130', async () => {
      const interrupt = new AbortController()
      const running = cli(['verify', url, '--law', 'R', '--repeat', '100'], interrupt.signal)
      await until(async () => (await scratchOn(url)).length > 0, 'a database for the laws')
      interrupt.abort(new Error('interrupted'))
      const { exitCode, output } = await running
      expect(output).toContain('interrupted')
      expect(exitCode).toBe(130)
      expect(await scratchOn(url)).toEqual([])
    })

    test('on a server that dies meanwhile says so, names what is left, and ends with 3', async () => {
      const running = cli(['verify', url, '--law', 'R', '--repeat', '100'])
      await until(async () => (await scratchOn(url)).length > 0, 'a database for the laws')
      const [name = 'none'] = await scratchOn(url)
      await until(() => runsLaw(intoDatabase(url, name)), 'a law')
      await server?.stop()
      const { exitCode, output } = await running
      expect(output).toMatch(/could\s+not\s+be\s+removed/)
      expect(output).toContain(name)
      expect(output).toContain(' 0 broken,')
      expect(exitCode).toBe(3)
    })
  },
  { only: ['postgres'] },
)
