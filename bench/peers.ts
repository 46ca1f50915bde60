import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

import { messageOf, runCommand } from '../test/engines/run-command.ts'

/*
 * Packages that others use for the same work. They are dependencies of `bench/package.json` and of nothing else: who
 * uses or develops Holdfast does not install them. Both queues declare Node 22 or later and run on 20 as well.
 *
 *   const boss = await loadPeer<PgBossModule>('pg-boss')
 *   if (boss === undefined) notes.push('pg-boss is not installed')
 */

const folder = new URL('./', import.meta.url)

/** A peer's module, described by what is used of it. Absent when it is not installed. */
export async function loadPeer<Module>(name: string): Promise<Module | undefined> {
  if (!existsSync(new URL(`node_modules/${name}/`, folder))) return undefined
  // by its place: a bundled program lies in another folder, and the compiler is not to look for what may not be there
  const place = createRequire(folder).resolve(name)
  return (await import(/* @vite-ignore */ pathToFileURL(place).href)) as Module
}

/** The installed version of a peer, for the results. */
export async function peerVersion(name: string): Promise<string | undefined> {
  const file = new URL(`node_modules/${name}/package.json`, folder)
  if (!existsSync(file)) return undefined
  return (JSON.parse(await readFile(file, 'utf8')) as { readonly version: string }).version
}

/** The names of all peers. */
export async function peerNames(): Promise<readonly string[]> {
  const { dependencies } = JSON.parse(await readFile(new URL('package.json', folder), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>
  }
  return Object.keys(dependencies)
}

/** Installs peers that are missing. Without a network the comparison goes on without them, and says so. */
export async function installPeers(say: (line: string) => void): Promise<void> {
  const names = await peerNames()
  if (names.every((name) => existsSync(new URL(`node_modules/${name}/`, folder)))) return
  say(`installing what is compared with: npm ci --prefix bench (${names.join(', ')})`)
  try {
    await runCommand('npm', ['ci', '--prefix', fileURLToPath(folder)], { timeoutMs: 300_000 })
  } catch (error) {
    say(`they are left out: ${messageOf(error)}`)
  }
}
