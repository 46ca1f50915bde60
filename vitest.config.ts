import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const long =
  /\/test\/(?:.*laws[^/]*|conformance\/.*|versions\/lowest|newcomer|bench\/.*|fuzz\/fuzz|site\/.*)\.test\.ts$/

const isLong = ({ moduleId }: TestSpecification): boolean => long.test(moduleId)

/** On a new machine nobody knows how long a file takes, and those that take longest are small: alone at the end they wait. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((one, other) => Number(isLong(other)) - Number(isLong(one)))
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/engines/setup.ts'],
    // only against hanging: a machine may be ten times slower
    testTimeout: 180_000,
    hookTimeout: 300_000,
    pool: 'forks',
    // most files wait for a server, so that four of them are quicker on two cores
    maxWorkers: 4,
    // tests that run side by side wait for a server that says nothing
    maxConcurrency: 10,
    sequence: { sequencer: LongestFirst },
  },
})
