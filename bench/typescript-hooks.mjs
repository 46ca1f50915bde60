import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/*
 * What one run has translated, hundreds of files, is kept for the next, by its text, this program's and esbuild's.
 */
const kept = new URL('../node_modules/.cache/holdfast-bench/typescript/', import.meta.url)
const translators = await Promise.all(
  [import.meta.url, new URL('../node_modules/esbuild/package.json', import.meta.url)].map((url) =>
    readFile(new URL(url)),
  ),
)

/** @type {import('node:module').LoadHook} */
export async function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context)
  const sourcefile = fileURLToPath(url)
  const text = await readFile(sourcefile, 'utf8')
  const hash = createHash('sha256')
  for (const part of [...translators, sourcefile, text]) hash.update(part).update('\0')
  const place = new URL(`${hash.digest('hex')}.mjs`, kept)
  const source = await readFile(place, 'utf8').catch(() => translate(sourcefile, text, place))
  return { format: 'module', source, shortCircuit: true }
}

async function translate(sourcefile, text, place) {
  const { transform } = await import('esbuild')
  const { code } = await transform(text, {
    loader: 'ts',
    format: 'esm',
    target: 'node20',
    sourcefile,
    sourcemap: 'inline',
  })
  // written beside it first: others may read at any time
  const draft = new URL(`${place.href}.${process.pid}`)
  await mkdir(kept, { recursive: true })
  await writeFile(draft, code)
  await rename(draft, place)
  return code
}
