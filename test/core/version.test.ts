import { expect, test } from 'vitest'

import { isAtLeast, parseVersion } from '../../src/core/version.ts'
import { registry } from '../../src/registry.ts'

test.each([
  ['18', [18, 0, 0]],
  ['PostgreSQL 18.4 on x86_64-pc-linux-gnu', [18, 4, 0]],
  ['9.5.25', [9, 5, 25]],
  ['8.0.36-0ubuntu0.22.04.1', [8, 0, 36]],
  ['v1.5.6', [1, 5, 6]],
])('%o is read as the version it names', (text, version) => {
  expect(parseVersion(text)).toEqual(version)
})

test('a text without a number is refused', () => {
  expect(() => parseVersion('latest')).toThrow(
    expect.objectContaining({ name: 'LockUsageError', field: 'version' }),
  )
})

test('versions are compared by their numbers, not as text', () => {
  expect(isAtLeast([10, 11, 0], [10, 6, 0])).toBe(true)
  expect(isAtLeast([10, 6, 0], [10, 6, 0])).toBe(true)
  expect(isAtLeast([9, 6, 24], [10, 0, 0])).toBe(false)
  expect(isAtLeast([8, 0, 0], [8, 0, 1])).toBe(false)
})

test('each dialect reads a version as its servers spell it', () => {
  expect(registry.mariadb.readVersion('5.5.5-10.11.6-MariaDB-0+deb12u1')).toEqual([10, 11, 6])
  expect(registry.mssql.readVersion('16.0.4135.4')).toEqual([16, 0, 4135])
  expect(registry.mssql.readVersion('2022')).toEqual([16, 0, 0])
  expect(registry.mssql.readVersion('2014')).toEqual([12, 0, 0])
})
