import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'

import { describeEngines } from '../engines/use.ts'
import { connectionFiles, type Block } from './blocks.ts'
import { exportingFiles } from './exported.ts'
import { node, tool, writeIn } from './project.ts'

const tsc = tool('typescript/bin/tsc')

/** Compiles every program of the pages with what `tsc --init` writes, and runs what comes out. */
export function describeDefaultSettings(folder: () => string, blocks: readonly Block[]): void {
  describe('with the default settings of TypeScript', () => {
    const nameOf = ({ title }: Block): string => title.replaceAll(/\W/g, '-')
    let compiled: Promise<unknown> | undefined
    beforeAll(async () => {
      await node([tsc, '--init'], folder())
      await writeIn(folder(), Object.fromEntries(blocks.map((block) => [`${nameOf(block)}.ts`, block.text])))
      await writeIn(folder(), { ...(await connectionFiles()), ...(await exportingFiles()) })
      compiled = node([tsc], folder())
      compiled.catch(() => {}) // the test below says it
    }, 600_000)

    test(
      'compiles all programs, the files that open connections, and exports of what the calls of every entry give',
      { timeout: 600_000 },
      async () => {
        expect(await readFile(join(folder(), 'tsconfig.json'), 'utf8')).toMatch(
          /"module": "nodenext"[^]*"declaration": true[^]*"strict": true/,
        )
        await compiled
      },
    )

    describeEngines(
      (context) => {
        const here = blocks.filter(({ engines }) => engines.includes(context.name))
        test.each(here)('runs $title', { timeout: 600_000 }, async (block) => {
          await compiled
          const { stdout } = await node([`${nameOf(block)}.js`], folder(), context.engine.server.url)
          expect(stdout).toBe(block.prints)
        })
      },
      { only: blocks.filter(({ prints }) => prints !== undefined).flatMap(({ engines }) => engines) },
    )
  })
}
