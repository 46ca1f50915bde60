import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

import { cacheFolder } from './cache-folder.ts'
import { debianRoot } from './debian-root.ts'

const machines = [
  { triplet: 'x86_64-linux-gnu', loader: 'ld-linux-x86-64.so.2', other: 'lib64' },
  { triplet: 'aarch64-linux-gnu', loader: 'ld-linux-aarch64.so.1', other: 'lib' },
]

let cache = ''
beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), 'holdfast-cache-'))
  vi.stubEnv('HOLDFAST_ENGINES_CACHE', cache)
})
afterEach(() => rm(cache, { recursive: true, force: true }))

/** A tree as releases before Debian 12 have it: the loader's file has the C library's version in its name. */
async function treeWithLinks(name: string): Promise<string> {
  const tree = cacheFolder(name)
  for (const { triplet, loader, other } of machines) {
    const home = join('lib', triplet)
    for (const folder of [home, other]) await mkdir(join(tree, folder), { recursive: true })
    await writeFile(join(tree, home, 'ld-2.31.so'), '')
    await symlink('ld-2.31.so', join(tree, home, loader))
    await symlink(join('/', home, 'ld-2.31.so'), join(tree, other, loader))
  }
  return tree
}

test("a tree whose loader is a link beside its file is run with the tree's own loader", async () => {
  const tree = await treeWithLinks('links')
  const { path, program } = await debianRoot({ name: 'links', suite: 'none', packages: [] })
  expect(path).toBe(tree)
  const [loader, , , file] = program('usr/sbin/server')
  expect(machines.map((one) => join(tree, 'lib', one.triplet, one.loader))).toContain(loader)
  expect(file).toBe(join(tree, 'usr/sbin/server'))
})

test("a tree whose only loader is a link to the machine's own is refused", async () => {
  const tree = await treeWithLinks('absolute')
  for (const { triplet } of machines) await rm(join(tree, 'lib', triplet), { recursive: true })
  await expect(debianRoot({ name: 'absolute', suite: 'none', packages: [] })).rejects.toThrow(
    /has no ld-linux/,
  )
})
