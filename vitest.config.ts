import { createHash } from 'node:crypto'
import { relative } from 'node:path'
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

import { testFiles } from './test/processes.ts'

const { long, alone, early } = testFiles()
const orderSeed = process.env.HOLDFAST_ORDER_SEED ?? ''

/**
 * On a new machine nobody knows how long a file takes, and those that take longest are small: alone at the end they wait.
 * Files that share processes come one after another, because a process ends when it is of no use to the next file.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const drawn = orderSeed === '' ? files : files.toSorted(byChance)
    return drawn.toSorted((one, other) => this.#turnOf(one) - this.#turnOf(other))
  }

  #turnOf({ moduleId, project }: TestSpecification): number {
    const path = relative(this.ctx.config.root, moduleId).replaceAll('\\', '/')
    if (project.name === 'alone') return long.includes(path) ? 0 : 1
    return early.includes(path) ? 2 : 3
  }
}

function byChance(one: TestSpecification, other: TestSpecification): number {
  return drawnBy(one) < drawnBy(other) ? -1 : 1
}

function drawnBy({ moduleId }: TestSpecification): string {
  return createHash('sha256').update(`${orderSeed} ${moduleId}`).digest('hex')
}

interface Choice {
  readonly include: readonly string[]
  readonly exclude?: readonly string[]
  readonly isolate: boolean
}

function projectOf(
  name: 'alone' | 'shared',
  { include, exclude = [], isolate }: Choice,
): TestProjectInlineConfiguration {
  return {
    test: {
      name,
      include: [...include],
      exclude: [...configDefaults.exclude, ...exclude],
      isolate,
      // what one file has replaced is there again for the next
      restoreMocks: !isolate,
      unstubEnvs: !isolate,
      unstubGlobals: !isolate,
      // only against hanging: a machine may be ten times slower
      testTimeout: 300_000,
      hookTimeout: 300_000,
      pool: 'forks',
      // tests that run side by side wait for a server that says nothing
      maxConcurrency: 10,
    },
  }
}

export default defineConfig({
  test: {
    // once for both projects: they get what it provides
    globalSetup: ['test/engines/setup.ts'],
    // files wait for servers more than they work: four of them left two cores idle for a third of the time
    maxWorkers: 6,
    sequence: { sequencer: LongestFirst },
    projects: [
      projectOf('alone', { include: [...long, ...alone], isolate: true }),
      // by a pattern: a file that is new while they are watched is run too
      projectOf('shared', {
        include: ['test/**/*.test.ts'],
        exclude: [...long, ...alone],
        isolate: false,
      }),
    ],
  },
})
