import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/engines/setup.ts'],
    // only against hanging: a machine may be ten times slower
    testTimeout: 180_000,
    hookTimeout: 300_000,
    pool: 'forks',
    // four are quicker on two cores, since most files wait, and MongoDB under Wine then keeps some of them waiting too long
    maxWorkers: 2,
    // tests that run side by side wait for a server that says nothing
    maxConcurrency: 10,
  },
})
