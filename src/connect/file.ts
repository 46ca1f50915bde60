import { open, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { describeAddress } from './address.ts'
import { ConnectError } from './connect-error.ts'

/** The full path of the file that an address names: a path as it stands, or one behind a protocol. */
export function fileOf(url: string): string {
  const behind = /^[a-z][a-z0-9+.-]+:(?:\/\/)?(?<path>[^?#]*)/i.exec(url)?.groups?.path
  const path = behind === undefined ? url : unescaped(behind)
  if (path === '' || path === ':memory:') {
    throw new ConnectError('address', 'an in-memory database belongs to one connection: name a file')
  }
  return resolve(path)
}

/** The file that an address names. Rejects where there is none, since drivers would make one. */
export async function existingFile(url: string): Promise<string> {
  const file = fileOf(url)
  if (await isFile(file)) return file
  throw new ConnectError('address', `there is no file ${describeAddress(url)}`)
}

export async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  )
}

export function besideFile(file: string, name: string): string {
  return join(dirname(file), name)
}

/** Rejects where a file cannot be made. */
export async function checkCanMake(file: string): Promise<void> {
  const folder = dirname(file)
  const found = await stat(folder).catch(() => undefined)
  if (found?.isDirectory() !== true) throw new ConnectError('address', `there is no folder ${folder}`)
  try {
    // to ask whether the folder can be written to is not enough: root is told yes
    await writeFile(file, '', { flag: 'wx' })
    await rm(file)
  } catch (error) {
    throw new ConnectError('rights', `the folder ${folder} cannot be written to`, { cause: error })
  }
}

/** What a file begins with; less where it is shorter. */
export async function firstBytes(file: string, count: number): Promise<Buffer> {
  const handle = await open(file, 'r')
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(count), 0, count, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

export async function removeFiles(files: readonly string[]): Promise<void> {
  for (const file of files) await rm(file, { force: true })
}

function unescaped(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
