import { readdir, readFile } from 'node:fs/promises'

import { project } from './place.ts'

/** A file of the project, from its folder on: `src/core/plan.ts`. */
export interface ProjectFile {
  readonly path: string
  readonly text: string
}

/** All files under a folder whose names end so. */
export async function readFiles(folder: string, ending = '.ts'): Promise<readonly ProjectFile[]> {
  const names = await readdir(new URL(`${folder}/`, project), { recursive: true })
  const paths = names
    .filter((name) => name.endsWith(ending) && !name.includes('node_modules'))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
  return Promise.all(
    paths.toSorted().map(async (path) => ({ path, text: await readFile(new URL(path, project), 'utf8') })),
  )
}

/** All paths under a folder. */
export async function pathsUnder(folder: string): Promise<readonly string[]> {
  const entries = await readdir(new URL(`${folder}/`, project), { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map(
      ({ name, parentPath }) =>
        `${folder}${parentPath.slice(new URL(`${folder}/`, project).pathname.length - 1)}/${name}`,
    )
    .map((path) => path.replaceAll('//', '/'))
    .toSorted()
}

/** How long files are together, in hundreds: exact numbers would change with every word. */
export function roughLines(files: readonly ProjectFile[]): number {
  const lines = files.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0)
  return Math.max(100, Math.round(lines / 100) * 100)
}
