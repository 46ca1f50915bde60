import { chmod, readFile, statfs } from 'node:fs/promises'
import { freemem } from 'node:os'

import { privateFolder, type PrivateFolder } from './private-folder.ts'

/** Where Linux keeps files in memory. */
const memory = '/dev/shm'
/** Several times what a whole run puts there. */
const enough = 6 * 2 ** 30

/**
 * A folder in memory for what a run throws away: the data of servers, files of SQLite, packages of made-up projects. On a
 * disk most of what a small transaction costs is to wait for it.
 *
 * Undefined where there is no such place or too little of it, and where `TMPDIR` names another.
 */
export async function memoryFolder(): Promise<PrivateFolder | undefined> {
  if (process.env.TMPDIR || !(await isRoomy())) return undefined
  const folder = await privateFolder('run', memory)
  await chmod(folder.path, 0o755) // servers that are not run as root have folders in it
  return folder
}

async function isRoomy(): Promise<boolean> {
  try {
    if (!mayRunPrograms(await readFile('/proc/mounts', 'utf8'), memory)) return false
    const { bavail, bsize } = await statfs(memory)
    return Math.min(bavail * bsize, freemem()) >= enough
  } catch {
    return false // no such place: macOS, Windows
  }
}

/** Whether a place is in memory, and programs and native modules may be run from there. Containers often forbid it. */
export function mayRunPrograms(mounts: string, place: string): boolean {
  const options = mounts
    .split('\n')
    .map((line) => line.split(' '))
    .findLast(([, where, kind]) => where === place && kind === 'tmpfs')?.[3]
  return options !== undefined && !options.split(',').includes('noexec')
}
