import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'

import type { PrivateServer } from '../engines/private-server.ts'
import { describeEngines, startPrivate } from '../engines/use.ts'
import { scratchOn, tablesOf } from './scratch.ts'
import { cli } from './terminal.ts'

const own = fileURLToPath(new URL('own/drizzle.ts', import.meta.url))

describe('holdfast verify <module>', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-own-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))
  const written = async (name: string, text: string): Promise<string> => {
    const file = join(folder, name)
    await writeFile(file, text)
    return file
  }

  /** A module of an application on pg, which finds Holdfast here. */
  const application = async (name: string, text: string): Promise<string> => {
    const file = join(dirname(own), `${process.pid}-${name}.ts`)
    const imports = `import pg from 'pg'\nimport { createLocks } from '../../../src/entries/pg.ts'\n`
    await writeFile(file, `${imports}${text}`)
    onTestFinished(() => rm(file))
    return file
  }

  test('wants an address beside the module', async () => {
    const { output, exitCode } = await cli(['verify', './locks.mjs'])
    expect(output).toContain('verify: name the address of a database beside ./locks.mjs')
    expect(exitCode).toBe(2)
  })

  describeEngines(
    () => {
      // of its own: what it has of scratch databases is looked at
      let server: PrivateServer
      let url = ''
      beforeAll(async () => {
        const started = await startPrivate('postgres')
        if ('unavailable' in started) throw new Error(started.unavailable)
        server = started
        url = server.server.url
      })
      afterAll(() => server?.stop())

      test('runs the laws through the locks that the application has opened', async () => {
        const { output, exitCode } = await cli(['verify', own, url, '--law', 'R1', '--law', 'T'])
        expect(output).toMatch(/through\s+drizzle.ts/)
        expect(output).toMatch(/laws on 1 database: \d+ hold, 0 broken/)
        expect(exitCode).toBe(0)
        expect(await scratchOn(url)).toEqual([])
      })

      test('does nothing in another database that the module opens instead', async () => {
        const other = `export default (_, max) => {
          const pool = new pg.Pool({ connectionString: ${JSON.stringify(url)}, max })
          return { locks: createLocks(pool), close: () => pool.end() }
        }`
        const { output, exitCode } = await cli([
          'verify',
          await application('other', other),
          url,
          '--law',
          'R1',
        ])
        expect(output.replaceAll(/\s+/g, ' ')).toContain(
          'it connects to a different database from the address',
        )
        expect(exitCode).toBe(3)
        expect(await tablesOf(url)).toEqual([])
        expect(await scratchOn(url)).toEqual([])
      })

      test('says so where the pool is smaller than it was asked for, and ends', async () => {
        const small = `export default (url) => {
          const pool = new pg.Pool({ connectionString: url, max: 1 })
          return { locks: createLocks(pool), close: () => pool.end() }
        }`
        const { output, exitCode } = await cli([
          'verify',
          await application('small', small),
          url,
          '--law',
          'R1',
        ])
        expect(output.replaceAll(/\s+/g, ' ')).toMatch(/its pool does not have \d connections: open it/)
        expect(exitCode).toBe(3)
        expect(await scratchOn(url)).toEqual([])
      })

      test.for([
        [
          'none.mjs',
          'export const locks = {}',
          /has no function as its default export: write export default/,
        ],
        ['empty.mjs', 'export default () => ({})', /what it returned is not locks to verify/],
        [
          'other.mjs',
          'export default () => ({ locks: { transaction() {} }, close() {} })',
          /not made by createLocks of this copy of Holdfast/,
        ],
        ['broken.mjs', 'export default (', /cannot load .*broken\.mjs/],
        [
          'throws.mjs',
          'export default () => { throw new Error("no pool today") }',
          /cannot reach .*: no pool today/,
        ],
        [
          'tells.mjs',
          'export default (url) => { throw new Error(`no pool for ${url}`) }',
          /cannot reach .*: it gave no reason that can be shown/,
        ],
      ] as const)('says what is wrong with %s, and leaves no database', async ([name, text, words]) => {
        const secret = new URL(url)
        secret.password ||= 'h1dd3n'
        const { output, progress, exitCode } = await cli(['verify', await written(name, text), secret.href])
        const said = (output + progress).replaceAll(/\s+/g, ' ')
        expect(said).toMatch(words)
        expect(said).not.toContain('h1dd3n')
        expect(exitCode).toBe(3)
        expect(await scratchOn(url)).toEqual([])
      })
    },
    { only: ['postgres'] },
  )
})
