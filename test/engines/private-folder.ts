import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { discharge, entrust } from './reaper.ts'

/** A folder of its own for one server. It goes away with `remove`, or with this process. */
export interface PrivateFolder {
  readonly path: string
  /** The reaper's mark: a server that lives in the folder is started with it. */
  readonly mark: string
  readonly remove: () => Promise<void>
}

/** Makes an empty folder with a short path (a Unix socket's path must fit in 100 characters). */
export async function privateFolder(name: string, where: string = tmpdir()): Promise<PrivateFolder> {
  const path = await mkdtemp(join(where, `holdfast-${name}-`))
  const mark = entrust({ folder: path })
  const remove = async (): Promise<void> => {
    await rm(path, { recursive: true, force: true, maxRetries: 5 })
    discharge(mark)
  }
  return { path, mark, remove }
}
