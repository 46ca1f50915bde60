import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

import { build, type Plugin } from 'esbuild'

const kept = new URL('../../node_modules/.cache/holdfast-programs/', import.meta.url)
const made = new Map<string, Promise<string>>()

/**
 * A program of ours as one file of JavaScript, for tests that start processes: to load its hundreds of modules one by
 * one through tsx takes two seconds of a processor, each time.
 */
export function programOf(source: URL): Promise<string> {
  const program = made.get(source.href) ?? bundle(fileURLToPath(source))
  made.set(source.href, program)
  return program
}

/** What is loaded only when it is asked for stays so: a file of its own, since a driver may not be there. */
async function bundle(source: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [source],
    outdir: fileURLToPath(kept),
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    outExtension: { '.js': '.mjs' },
    write: false,
    plugins: [ownAddresses],
  })
  const hash = createHash('sha256')
  for (const { contents } of outputFiles) hash.update(contents)
  const folder = fileURLToPath(new URL(`${hash.digest('hex').slice(0, 16)}/`, kept))
  // written beside it first: others may start it at any time
  const draft = `${folder.slice(0, -1)}.${randomUUID()}`
  await mkdir(draft, { recursive: true })
  await Promise.all(outputFiles.map(({ path, contents }) => writeFile(join(draft, basename(path)), contents)))
  await rename(draft, folder).catch(() => rm(draft, { recursive: true }))
  return join(folder, `${basename(source, '.ts')}.mjs`)
}

/** Each module finds what lies beside it, as it does where it comes from. */
const ownAddresses: Plugin = {
  name: 'own-addresses',
  setup: (esbuild) => {
    esbuild.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      const address = JSON.stringify(pathToFileURL(path).href)
      return { loader: 'ts', contents: text.replaceAll('import.meta.url', address) }
    })
  },
}
