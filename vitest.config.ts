import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/engines/setup.ts'],
    // only against hanging: a machine may be ten times slower
    testTimeout: 180_000,
    hookTimeout: 300_000,
    pool: 'forks',
    // most files wait for a server, so that a third one is quicker on two cores
    maxWorkers: 3,
    // tests that run side by side wait for a server that says nothing
    maxConcurrency: 10,
  },
})
