import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'

import { withHeldName } from './held-name.ts'
import { progress } from './progress.ts'
import { messageOf } from './run-command.ts'

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

/** Rejects when what is in a folder of the cache does not work. */
export type Check = (folder: string) => Promise<unknown>

/**
 * The folder, made by `make` when it is not there yet, and once more when `check` finds that it does not work: a disk
 * that was full, or a hand that slipped, would otherwise fail every run from then on.
 *
 * `make` fills a draft beside it, which becomes the folder by one rename: a run that dies half-way leaves nothing
 * that looks finished. Of two runs at once the second waits for the first. What `make` writes must not contain the
 * draft's path.
 */
export async function once(
  folder: string,
  make: (draft: string) => Promise<void>,
  check: Check = async () => {},
): Promise<string> {
  if ((await exists(folder)) && (await damageOf(folder, check)) === undefined) return folder
  await mkdir(dirname(folder), { recursive: true })
  const waiting = (): void => progress(`somebody else is making ${folder}: waiting for it`)
  await withHeldName(folder, () => makeAndPublish(folder, make, check), waiting)
  return folder
}

async function damageOf(folder: string, check: Check): Promise<string | undefined> {
  return check(folder).then(
    () => undefined,
    (error: unknown) => messageOf(error).split('\n', 1).join(''),
  )
}

async function makeAndPublish(
  folder: string,
  make: (draft: string) => Promise<void>,
  check: Check,
): Promise<void> {
  const isThere = await exists(folder)
  const damage = isThere ? await damageOf(folder, check) : undefined
  if (isThere && damage === undefined) return
  if (damage !== undefined) progress(`${folder} does not work (${damage}): making it again`)
  await removeDrafts(folder)
  const draft = `${folder}.draft-${randomBytes(4).toString('hex')}`
  await mkdir(draft)
  try {
    await make(draft)
    if (damage !== undefined) await rename(folder, `${draft}-damaged`)
    await rename(draft, folder)
  } catch (error) {
    // the name is held per machine: a run on another one that shares this disk may have been first
    if (damage !== undefined || !(await exists(folder))) throw error
  } finally {
    for (const rest of [draft, `${draft}-damaged`]) await rm(rest, { recursive: true, force: true })
  }
  await check(folder)
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
