import { defineConfig } from 'vitest/config'

import { testsOf } from './tests.ts'

const mutated = (process.env.HOLDFAST_MUTATED ?? '').split(',')

export default defineConfig({
  test: {
    include: mutated.flatMap((folder) => testsOf[folder] ?? []),
    globalSetup: ['test/engines/setup.ts'],
    testTimeout: 180_000,
    hookTimeout: 300_000,
  },
})
