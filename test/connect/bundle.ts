import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { build } from 'esbuild'

/** Holdfast in a folder of its own, with only those packages installed that it is given. */
export interface Installation {
  readonly folder: string
  /** A script that can import what the folder `src/connect` exports as `./holdfast.mjs`. */
  readonly script: (text: string) => Promise<string>
  readonly install: (name: string, from: string) => Promise<void>
  readonly remove: () => Promise<void>
}

const root = fileURLToPath(new URL('../..', import.meta.url))

export async function installElsewhere(): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-connect-'))
  const modules = ['open', 'scratch', 'embedded'].map((name) => `export * from './src/connect/${name}.ts'`)
  await build({
    stdin: { contents: modules.join('\n'), resolveDir: root, loader: 'ts' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: join(folder, 'holdfast.mjs'),
  })
  return {
    folder,
    script: async (text) => {
      const file = join(folder, 'script.mjs')
      await writeFile(file, `import * as holdfast from './holdfast.mjs'\n${text}`)
      return file
    },
    install: async (name, from) => {
      const place = join(folder, 'node_modules', name)
      await mkdir(dirname(place), { recursive: true })
      await symlink(from, place, 'junction')
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Where a package that the tests use is. */
export function packageFolder(name: string): string {
  return join(root, 'node_modules', name)
}
