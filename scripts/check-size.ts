import { gzipSync } from 'node:zlib'
import { build, type Plugin } from 'esbuild'

import { entryPoints } from '../test/shape/public-names.ts'

/*
 * Bundles what was built the way a user's bundler would, and says what the main entry weighs and what is loaded. What is
 * imported only on demand (inspect, attest) is not counted.
 *
 * Nothing but Node's own modules may be loaded: a driver in the bundle would be a driver in everybody's bundle.
 */
const maxBytes = 27_500

const built = [...(await entryPoints()).values()].map((source) =>
  source.replace(/^src/, 'dist').replace(/ts$/, 'js'),
)

/** Leaves out what is loaded only when somebody asks for it. */
const onDemand: Plugin = {
  name: 'on-demand',
  setup: (bundling) => {
    bundling.onResolve({ filter: /^\./ }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path, external: true } : undefined,
    )
  },
}

const { outputFiles, metafile } = await build({
  plugins: [onDemand],
  entryPoints: built,
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'node',
  packages: 'external',
  outdir: 'bundled',
  metafile: true,
  write: false,
})

const main = outputFiles.find(({ path }) => path.endsWith('bundled/index.js'))
if (main === undefined) throw new Error('there is no dist/index.js')
const bytes = gzipSync(main.contents).length
console.log(
  `holdfast is ${(bytes / 1000).toFixed(1)} kB, minified and gzipped; ${maxBytes / 1000} kB are the most`,
)

const strangers = Object.entries(metafile.inputs).flatMap(([file, { imports }]) =>
  imports
    .filter(({ path, external }) => external === true && !/^(?:node:|\.)/.test(path))
    .map(({ path }) => `${file} loads ${path}`),
)
for (const stranger of strangers) console.error(stranger)
if (bytes > maxBytes || strangers.length > 0) process.exitCode = 1
