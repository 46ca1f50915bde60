import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ScratchSubject } from '../scratch.ts'
import { guard, type Guardian } from './guardian.ts'
import { onProcessEnd } from './process-end.ts'

/** A folder that goes with this process, however that ends. */
export interface TemporaryFolder extends Pick<Guardian, 'watch'> {
  readonly path: string
  readonly remove: () => Promise<void>
}

/** A subject that lives in a temporary folder, which goes with it, or with the process. */
export async function inFolder(
  open: (folder: TemporaryFolder) => Promise<ScratchSubject>,
): Promise<ScratchSubject> {
  const folder = await temporaryFolder()
  try {
    const subject = await open(folder)
    const drop = async (): Promise<void> => {
      try {
        await subject.drop()
      } finally {
        await folder.remove()
      }
    }
    return { ...subject, drop }
  } catch (error) {
    await folder.remove()
    throw error
  }
}

async function temporaryFolder(): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), 'holdfast-verify-'))
  const options = { recursive: true, force: true, maxRetries: 5 }
  const { watch, dismiss } = guard(path)
  const forget = onProcessEnd(() => rmSync(path, options))
  return {
    path,
    watch,
    remove: async () => {
      await rm(path, options)
      dismiss()
      forget()
    },
  }
}
