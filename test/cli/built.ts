import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const project = fileURLToPath(new URL('../../', import.meta.url))

/** The program as it is published, in a folder of its own. */
export interface BuiltCli {
  readonly folder: string
  readonly program: string
  readonly remove: () => Promise<void>
}

/** Builds the program, with the packages of this project beside it. */
export async function buildCli(): Promise<BuiltCli> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-built-'))
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true })
  try {
    const tsc = join(project, 'node_modules/typescript/bin/tsc')
    const args = ['-p', 'tsconfig.build.json', '--outDir', join(folder, 'dist')]
    await promisify(execFile)(process.execPath, [tsc, ...args], { cwd: project })
    await copyFile(join(project, 'package.json'), join(folder, 'package.json'))
    await symlink(join(project, 'node_modules'), join(folder, 'node_modules'), 'junction')
    return { folder, program: join(folder, 'dist/cli/main.js'), remove }
  } catch (error) {
    await remove()
    throw error
  }
}
