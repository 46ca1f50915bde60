import { createHash } from 'node:crypto'
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

import { testFiles, type Share } from './test/processes.ts'

const inTurn: readonly Share[] = ['long', 'shared', 'alone']
const orderSeed = process.env.HOLDFAST_ORDER_SEED ?? ''

const turnOf = ({ project }: TestSpecification): number => inTurn.findIndex((name) => name === project.name)
const drawnFor = ({ moduleId }: TestSpecification): string =>
  createHash('sha256').update(`${orderSeed} ${moduleId}`).digest('hex')

/**
 * On a new machine nobody knows how long a file takes, and those that take longest are small: alone at the end they wait.
 * Files that share processes come one after another, because a process ends when the next file cannot use it.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const drawn =
      orderSeed === '' ? files : files.toSorted((one, other) => (drawnFor(one) < drawnFor(other) ? -1 : 1))
    return drawn.toSorted((one, other) => turnOf(one) - turnOf(other))
  }
}

const { long, alone } = testFiles()

const files: Readonly<
  Record<Share, { readonly include: readonly string[]; readonly exclude: readonly string[] }>
> = {
  long: { include: long, exclude: [] },
  // by a pattern, so that a file which is new while they are watched is run too
  shared: { include: ['test/**/*.test.ts'], exclude: [...long, ...alone] },
  alone: { include: alone, exclude: [] },
}

function projectOf(name: Share): TestProjectInlineConfiguration {
  const isShared = name === 'shared'
  return {
    test: {
      name,
      include: [...files[name].include],
      exclude: [...configDefaults.exclude, ...files[name].exclude],
      isolate: !isShared,
      // what one file has replaced is there again for the next
      restoreMocks: isShared,
      unstubEnvs: isShared,
      unstubGlobals: isShared,
      // only against hanging: a machine may be ten times slower
      testTimeout: 180_000,
      hookTimeout: 300_000,
      pool: 'forks',
      // tests that run side by side wait for a server that says nothing
      maxConcurrency: 10,
    },
  }
}

export default defineConfig({
  test: {
    // once for all projects: they get what it provides
    globalSetup: ['test/engines/setup.ts'],
    // most files wait for a server, so that four of them are quicker on two cores
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    projects: inTurn.map(projectOf),
  },
})
