import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'

import {
  entriesWithAddress,
  entriesWithBadChecksum,
  missingEntries,
  unseenEntries,
  type LockEntry,
} from '../../scripts/lockfile/entries.ts'

const unseen = (entry: LockEntry): readonly string[] =>
  unseenEntries({ packages: { '': {}, 'node_modules/a': entry } })

describe('a package that nobody has seen', () => {
  test.each<[string, LockEntry]>([
    ['linux x64', { os: ['linux'], cpu: ['x64'], libc: ['glibc'] }],
    ['linux arm64', { os: ['linux'], cpu: ['arm64'], libc: ['glibc'] }],
    ['linux arm64, whatever the C library', { os: ['linux'], cpu: ['arm64'] }],
    ['every platform', {}],
    ['every platform but Windows', { os: ['!win32'] }],
  ])('is refused where %s needs it', (_, entry) => {
    expect(unseen(entry)).toEqual(['node_modules/a'])
    expect(unseen({ ...entry, integrity: 'sha512-x' })).toEqual([])
  })

  test.each<[string, LockEntry]>([
    ['musl', { os: ['linux'], cpu: ['x64'], libc: ['musl'] }],
    ['another processor', { os: ['linux'], cpu: ['riscv64'] }],
    ['another system', { os: ['darwin'], cpu: ['arm64'] }],
    ['all but ours', { os: ['!linux'] }],
    ['a folder of the project', { link: true }],
  ])('is none of ours for %s', (_, entry) => {
    expect(unseen(entry)).toEqual([])
  })
})

const digest = (bytes: number): string => Buffer.alloc(bytes, 7).toString('base64')

test.each([
  '',
  'nonsense',
  `sha512-${digest(63)}`,
  `sha512-${digest(65)}`,
  `sha512-${digest(64)} `,
  `sha512-${digest(64).slice(0, -2)}`,
  `sha512-!${digest(64).slice(1)}`,
  `sha1-${digest(20)}`,
])('a checksum that is none is refused: %j', (integrity) => {
  const packages = { '': {}, 'node_modules/a': { integrity }, 'node_modules/b': {} }
  expect(entriesWithBadChecksum({ packages })).toEqual(['node_modules/a'])
})

test('a checksum of 64 bytes is one', () => {
  const packages = { 'node_modules/a': { integrity: `sha512-${digest(64)}` } }
  expect(entriesWithBadChecksum({ packages })).toEqual([])
})

test('an optional package without an entry gets one for the platform in its name', () => {
  const packages = { 'node_modules/a': { optionalDependencies: { '@a/linux-arm64-gnu': '1.2.3' } } }
  expect([...missingEntries({ packages })]).toEqual([
    [
      'node_modules/@a/linux-arm64-gnu',
      { version: '1.2.3', cpu: ['arm64'], dev: true, libc: ['glibc'], optional: true, os: ['linux'] },
    ],
  ])
})

test.each(['package-lock.json', 'bench/package-lock.json'])('%s is whole', async (name) => {
  const file = new URL(`../../${name}`, import.meta.url)
  const lockfile = JSON.parse(await readFile(file, 'utf8')) as Parameters<typeof unseenEntries>[0]
  expect(unseenEntries(lockfile)).toEqual([])
  expect(entriesWithAddress(lockfile)).toEqual([])
  expect(entriesWithBadChecksum(lockfile)).toEqual([])
  expect([...missingEntries(lockfile).keys()]).toEqual([])
})
