import { describe, expect, test } from 'vitest'

import { readPage } from '../docs/page.ts'
import { planOf } from '../docs/plan.ts'
import { describeEngines } from '../engines/use.ts'
import type { Block } from './blocks.ts'
import { node, tool, writeIn } from './project.ts'

const page = 'docs/getting-started.md'
const { programs } = planOf(await readPage(page))

/** Pastes each program of the pages into a file, and runs it with tsx, twice. */
export function describeEsm(folder: () => string, blocks: readonly Block[]): void {
  describe('with ES modules and tsx', () => {
    describeEngines(
      (context) => {
        const here = blocks.filter(({ engines }) => engines.includes(context.name))
        test.each(here)('runs $title, and once more', { timeout: 600_000 }, async ({ text, prints }) => {
          await writeIn(folder(), { 'program.ts': text })
          for (const _ of ['once', 'again']) {
            const { stdout } = await node(
              [tool('tsx/dist/cli.mjs'), 'program.ts'],
              folder(),
              context.engine.server.url,
            )
            expect(stdout).toBe(prints)
          }
        })
      },
      { only: blocks.flatMap(({ engines }) => engines) },
    )

    test(`runs the program of ${page} that imports ./db.ts`, { timeout: 600_000 }, async () => {
      const db = programs.find(({ fence }) => fence.words.join(' ') === 'db sqlite')
      const program = programs.find(({ usesDb, prints }) => usesDb && prints !== undefined)
      await writeIn(folder(), { 'db.ts': db?.fence.text ?? '', 'program.ts': program?.fence.text ?? '' })
      const { stdout } = await node([tool('tsx/dist/cli.mjs'), 'program.ts'], folder(), 'newcomer.db')
      expect(stdout).toBe(program?.prints?.text)
    })
  })
}
