import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ScratchSubject } from '../scratch.ts'
import { onProcessEnd } from './process-end.ts'

interface TemporaryFolder {
  readonly path: string
  readonly remove: () => Promise<void>
}

/** A subject that lives in a temporary folder, which goes with it, or with the process. */
export async function inFolder(open: (folder: string) => Promise<ScratchSubject>): Promise<ScratchSubject> {
  const folder = await temporaryFolder()
  try {
    const subject = await open(folder.path)
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
  const forget = onProcessEnd(() => rmSync(path, options))
  return {
    path,
    remove: async () => {
      await rm(path, options)
      forget()
    },
  }
}
