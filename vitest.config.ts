import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/engines/setup.ts'],
    // only against hanging: a machine may be ten times slower
    testTimeout: 180_000,
    hookTimeout: 300_000,
    pool: 'forks',
    // on two cores too: most files wait for a lock, for the end of a lease or for a silent server
    maxWorkers: 4,
    // tests that run side by side wait for a server that says nothing
    maxConcurrency: 10,
  },
})
