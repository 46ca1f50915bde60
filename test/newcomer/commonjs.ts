import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

import { describeEngines } from '../engines/use.ts'
import { blocksIn, type Block } from './blocks.ts'
import { node, tool, writeIn } from './project.ts'

const page = 'docs/commonjs.md'
const [plain = '', spec = ''] = await blocksIn(page, 'js')
const [printed = ''] = await blocksIn(page, 'text')
const [provider = ''] = await blocksIn(page, 'ts')

const tsc = tool('typescript/bin/tsc')
const jest = (file: string): readonly string[] => [tool('jest/bin/jest.js'), '--no-watchman', file]

/** `require` in Node, in Jest, and in what TypeScript makes of a CommonJS project. */
export function describeCommonJs(folder: () => string, blocks: readonly Block[]): void {
  describe('with CommonJS', () => {
    test('runs the program for Node', async () => {
      await writeIn(folder(), { 'plain.js': plain })
      expect((await node(['plain.js'], folder())).stdout).toBe(printed)
    })

    test('runs the test for Jest, with no configuration', { timeout: 600_000 }, async () => {
      await writeIn(folder(), { 'spec.test.js': spec })
      expect((await node(jest('spec.test.js'), folder())).stderr).toMatch(/^Tests: +1 passed, 1 total$/m)
    })

    describeEngines(
      (context) => {
        const here = blocks.filter(({ engines }) => engines.includes(context.name))
        test.each(here)('runs $title in Jest', { timeout: 600_000 }, async (block) => {
          await writeIn(folder(), { 'jest.config.js': config, 'typescript.js': transform })
          await writeIn(folder(), { 'program.test.ts': asTest(block) })
          const { stderr } = await node(jest('program.test.ts'), folder(), context.engine.server.url)
          expect(stderr).toMatch(/^Tests: +1 passed, 1 total$/m)
        })

        if (context.name !== 'postgres') return
        test('runs the provider of Nest, compiled to CommonJS', { timeout: 600_000 }, async () => {
          await writeIn(folder(), { 'provider.ts': provider, 'nest.ts': container })
          await node([tsc, '-p', await settings(folder(), 'nodenext', 'nest.ts')], folder())
          const { stdout } = await node(['nest.js'], folder(), context.engine.server.url)
          expect(stdout).toBe('monday written\n')
        })
      },
      { only: blocks.flatMap(({ engines }) => engines).filter((name) => name !== withoutJest) },
    )

    test.each(['nodenext', 'node20', 'commonjs'])(
      'compiles with module %s',
      { timeout: 600_000 },
      async (kind) => {
        await writeIn(folder(), { 'provider.ts': provider })
        await node([tsc, '--noEmit', '-p', await settings(folder(), kind)], folder())
      },
    )

    test('is told without the setting of the page', { timeout: 600_000 }, async () => {
      await settings(folder(), 'nodenext')
      await writeIn(folder(), { 'provider.ts': provider })
      const refused = node(
        [tsc, '--noEmit', '--verbatimModuleSyntax', '-p', 'tsconfig-nodenext-provider.ts.json'],
        folder(),
      )
      await expect(refused).rejects.toThrow(/error TS1295[^]*error TS1287/)
    })

    test.each(['node16', 'node18'])(
      'is told with module %s what to do',
      { timeout: 600_000 },
      async (kind) => {
        await writeIn(folder(), { 'provider.ts': provider })
        const refused = node([tsc, '--noEmit', '-p', await settings(folder(), kind)], folder())
        await expect(refused).rejects.toThrow('error TS1479')
      },
    )
  })
}

/** mongodb 7.8 does not get as far as logging in from inside of Jest, before Holdfast is called: docs/commonjs.md. */
const withoutJest = 'mongodb'

/** What `tsc --init` writes, with what the page says of it, for one file. */
async function settings(folder: string, module: string, file = 'provider.ts'): Promise<string> {
  const name = `tsconfig-${module}-${file}.json`
  await rm(join(folder, 'tsconfig.json'), { force: true })
  await node([tsc, '--init'], folder)
  const compilerOptions = { module, verbatimModuleSyntax: false }
  await writeIn(folder, {
    [name]: JSON.stringify({ extends: './tsconfig.json', compilerOptions, files: [file] }),
  })
  return name
}

/** What Nest's container does with a provider. */
const container = `
import pg from 'pg'
import { locksProvider, Reports } from './provider.js'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
const reports = new Reports(locksProvider.useFactory(pool))
void reports.write('monday').then(console.log).finally(() => pool.end())
`

/** What takes the types away, as ts-jest and others do. */
const config = `module.exports = { transform: { '[.]ts$': './typescript.js' } }\n`
const transform = `
const { transformSync } = require('esbuild')
module.exports = { process: (text) => transformSync(text, { loader: 'ts', format: 'cjs', target: 'es2023' }) }
`

/** The program as it stands on the page, inside a function: a file of CommonJS has no await at the top. */
function asTest({ text, prints }: Block): string {
  const lines = text.split('\n')
  const head = lines.filter((line) => line.startsWith('import '))
  const body = lines.filter((line) => !line.startsWith('import '))
  return `${head.join('\n')}
import { format } from 'node:util'

test('prints what the page says', async () => {
  let printed = ''
  jest.spyOn(console, 'log').mockImplementation((...values) => void (printed += format(...values) + '\\n'))
${body.join('\n')}
  expect(printed).toBe(${JSON.stringify(prints)})
}, 120_000)
`
}
