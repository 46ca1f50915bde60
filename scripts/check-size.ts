import { gzipSync } from 'node:zlib'
import { build, type Plugin } from 'esbuild'

import { entryPoints } from '../test/shape/public-names.ts'

/*
 * Bundles what was built the way a user's bundler would, and says what two entries weigh and what is loaded. That is what
 * is there when the import has ended. What is loaded on demand (src/locks/seldom.ts: leases, queues, session locks and so
 * on; inspect, attest, batches) comes with the first call that needs it, and is not counted.
 *
 * Nothing but Node's own modules may be loaded: a driver in the bundle would be a driver in everybody's bundle. And an
 * entry for one database brings no other along.
 */
const maxBytes: Readonly<Record<string, number>> = { index: 24_100, 'entries/pg': 49_500 }

/** The folders of dialects that an entry for one database may have of. MariaDB takes much from MySQL. */
const ownDialects: Readonly<Record<string, readonly string[]>> = {
  'entries/better-sqlite3': ['sqlite'],
  'entries/duckdb': ['duckdb'],
  'entries/mariadb': ['mariadb', 'mysql'],
  'entries/mikro-orm': ['postgres'],
  'entries/mongodb': ['mongodb'],
  'entries/mssql': ['mssql'],
  'entries/mysql2': ['mariadb', 'mysql'],
  'entries/node-sqlite': ['sqlite'],
  'entries/pg': ['postgres'],
  'entries/postgres-js': ['postgres'],
}

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

const problems: string[] = []

for (const [name, most] of Object.entries(maxBytes)) {
  const file = outputFiles.find(({ path }) => path.endsWith(`bundled/${name}.js`))
  if (file === undefined) throw new Error(`there is no dist/${name}.js`)
  const bytes = gzipSync(file.contents).length
  const size = `dist/${name}.js is ${(bytes / 1000).toFixed(1)} kB, minified and gzipped`
  console.log(`${size}; ${most / 1000} kB are the most`)
  if (bytes > most) problems.push(`${size}: too much`)
}

for (const [name, own] of Object.entries(ownDialects)) {
  const bundle = metafile.outputs[`bundled/${name}.js`]
  if (bundle === undefined) throw new Error(`there is no dist/${name}.js`)
  for (const file of Object.keys(bundle.inputs)) {
    const dialect = /^dist\/dialects\/([^/]+)\//.exec(file)?.[1]
    if (dialect !== undefined && !own.includes(dialect)) problems.push(`dist/${name}.js loads ${file}`)
  }
}

for (const [file, { imports }] of Object.entries(metafile.inputs)) {
  const strangers = imports.filter(({ path, external }) => external === true && !/^(?:node:|\.)/.test(path))
  for (const { path } of strangers) problems.push(`${file} loads ${path}`)
}
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
