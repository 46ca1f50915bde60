import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'

import { withHeldName } from './held-name.ts'
import { progress } from './progress.ts'

/**
 * A place in the cache, which outlives test runs: `HOLDFAST_ENGINES_CACHE`, else a folder in the home folder.
 *
 * Machines of several kinds may share a disk, so each kind has a folder of its own in it.
 */
export function cacheFolder(...parts: string[]): string {
  return inCache(join(homedir(), '.cache'), parts)
}

/** As {@link cacheFolder}, for what another account must read: root's home folder is closed to all others. */
export function openCacheFolder(...parts: string[]): string {
  return process.getuid?.() === 0 ? inCache('/var/cache', parts) : cacheFolder(...parts)
}

function inCache(home: string, parts: readonly string[]): string {
  const root = process.env.HOLDFAST_ENGINES_CACHE || join(home, 'holdfast', 'engines')
  return join(root, `${process.platform}-${process.arch}`, ...parts)
}

/**
 * The folder, made by `make` when it is not there yet.
 *
 * `make` fills a draft beside it, which becomes the folder by one rename: a run that dies half-way leaves nothing
 * that looks finished. Of two runs at once the second waits for the first. What `make` writes must not contain the
 * draft's path.
 */
export async function once(folder: string, make: (draft: string) => Promise<void>): Promise<string> {
  if (await exists(folder)) return folder
  await mkdir(dirname(folder), { recursive: true })
  const waiting = (): void => progress(`somebody else is making ${folder}: waiting for it`)
  await withHeldName(folder, () => makeAndPublish(folder, make), waiting)
  return folder
}

async function makeAndPublish(folder: string, make: (draft: string) => Promise<void>): Promise<void> {
  if (await exists(folder)) return
  await removeDrafts(folder)
  const draft = `${folder}.draft-${randomBytes(4).toString('hex')}`
  await mkdir(draft)
  try {
    await make(draft)
    await rename(draft, folder)
  } catch (error) {
    // the name is held per machine: a run on another one that shares this disk may have been first
    if (!(await exists(folder))) throw error
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** What killed runs left behind: while the name is held, no draft of it is in use. */
async function removeDrafts(folder: string): Promise<void> {
  const beside = await readdir(dirname(folder))
  const drafts = beside.filter((name) => name.startsWith(`${basename(folder)}.draft-`))
  await Promise.all(drafts.map((name) => rm(join(dirname(folder), name), { recursive: true, force: true })))
}

/** Whether there is a file or folder at this path. */
export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
