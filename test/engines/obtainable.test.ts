import { afterEach, expect, test, vi } from 'vitest'

import type { Origin } from './engine.ts'
import { isObtainable, obtainableEngines } from './obtainable.ts'
import { requiredEngines } from './start-engines.ts'

afterEach(() => vi.unstubAllEnvs())

const every = ['duckdb', 'mariadb', 'mongodb', 'mysql', 'postgres', 'sqlite']

test.each(['x64', 'arm64'])('Linux on %s can have every engine but SQL Server', async (arch) => {
  expect(await obtainableEngines({ platform: 'linux', arch })).toEqual(every)
})

test.each([
  ['darwin', 'arm64'],
  ['win32', 'x64'],
  ['linux', 'riscv64'],
])('%s on %s has the engines that run inside the process', async (platform, arch) => {
  expect(await obtainableEngines({ platform, arch })).toEqual(['duckdb', 'sqlite'])
})

test('a way that somebody must open first does not count', () => {
  const kind = (...origins: Origin[]): Parameters<typeof isObtainable>[0] => ({
    sources: origins.map((origin) => ({ origin, start: async () => ({ unavailable: 'not asked' }) })),
  })
  const machine = { platform: 'linux', arch: 'x64' }
  expect(isObtainable(kind('url', 'container', 'installed'), machine)).toBe(false)
  expect(isObtainable(kind('url', 'download'), machine)).toBe(true)
})

test('HOLDFAST_REQUIRE=obtainable asks for what this machine can have', async () => {
  vi.stubEnv('HOLDFAST_REQUIRE', 'obtainable')
  expect(await requiredEngines()).toEqual(await obtainableEngines())
})
