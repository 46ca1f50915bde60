import { execFile } from 'node:child_process'
import { mkdtemp, mkdir, readFile, rm, writeFile, cp } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build, transform, type Metafile } from 'esbuild'

import { reachable } from './build/declarations.ts'

/*
 * Writes dist: one file of JavaScript for each entry, files for what several of them share, and the declarations that
 * the entries lead to. One file for each source would be more than a thousand, which Node has to open one by one.
 * What is loaded on demand stays a file of its own, and no two entries bring a second copy of anything.
 *
 * And cjs: the same files as CommonJS, for tools such as Jest that cannot `require` ES modules. Node itself never loads
 * them: its condition `module-sync` leads `import` and `require` to the same files of dist.
 */
const root = fileURLToPath(new URL('../', import.meta.url))
const dist = join(root, 'dist')
const cjs = join(root, 'cjs')

interface Manifest {
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>
}

const { bin, exports } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Manifest
const entries = Object.values(exports).filter((target) => typeof target !== 'string')
const programs = [...Object.values(bin), ...entries.map((entry) => entry.default)]

for (const folder of [dist, cjs]) await rm(folder, { recursive: true, force: true })
const draft = await mkdtemp(join(root, '.build-'))
try {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  await promisify(execFile)(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', draft], {
    cwd: root,
  })
  await bundle(draft)
  await copyDeclarations(draft)
} finally {
  await rm(draft, { recursive: true, force: true })
}

/** The same place in another folder than dist. */
function inside(folder: string, path: string): string {
  return join(folder, relative('dist', path))
}

async function bundle(from: string): Promise<void> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: from,
    entryPoints: programs.map((path) => inside(from, path)),
    outbase: from,
    outdir: dist,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'es2023',
    packages: 'external',
    // two folders deep, as the sources are that look for package.json
    chunkNames: 'shared/[name]-[hash]',
    write: false,
    metafile: true,
  })
  const ofLibrary = new Set(usedBy(metafile, from))
  for (const { path, text } of outputFiles) {
    // imports that name nothing are there for side effects only, and no file of ours has any: bundlers would warn of them
    const code = text.replaceAll(/^import "\.{1,2}\/shared\/[^"]+";\n/gm, '')
    const place = relative(dist, path)
    await write(path, code)
    if (ofLibrary.has(path)) await write(join(cjs, place), await asCommonJs(code))
  }
  await write(join(cjs, 'package.json'), '{ "type": "commonjs" }\n')
}

/** The files that the entries lead to. What only the command line loads, Node runs itself. */
function usedBy({ outputs }: Metafile, from: string): readonly string[] {
  const found = new Set<string>()
  const open = Object.keys(outputs).filter((path) =>
    entries.some((entry) => join(from, path) === inside(dist, entry.default)),
  )
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path)) continue
    found.add(path)
    open.push(
      ...(outputs[path]?.imports ?? []).filter(({ external }) => external !== true).map((one) => one.path),
    )
  }
  return [...found].map((path) => join(from, path))
}

async function asCommonJs(code: string): Promise<string> {
  const options = {
    format: 'cjs',
    platform: 'node',
    target: 'es2023',
    define: { 'import.meta.url': '__filename' },
    // Jest has no import() in CommonJS
    supported: { 'dynamic-import': false },
  } as const
  return (await transform(code, options)).code
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

async function copyDeclarations(from: string): Promise<void> {
  for (const file of await reachable(entries.map(({ types }) => inside(from, types))))
    await cp(file, join(dist, relative(from, file)))
}
