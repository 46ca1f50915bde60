import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

import { transform } from 'esbuild'

/** @type {import('node:module').LoadHook} */
export async function load(url, context, next) {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return next(url, context)
  const sourcefile = fileURLToPath(url)
  const { code } = await transform(await readFile(sourcefile, 'utf8'), {
    loader: 'ts',
    format: 'esm',
    target: 'node20',
    sourcefile,
    sourcemap: 'inline',
  })
  return { format: 'module', source: code, shortCircuit: true }
}
