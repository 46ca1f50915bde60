import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire, isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = new URL('../../', import.meta.url)
const tsx = fileURLToPath(new URL('node_modules/tsx/dist/cli.mjs', root))

/** A block of code on a page: what stands behind the three ticks, and the text. */
export interface Fence {
  readonly info: string
  readonly text: string
}

/** A program of a page, and what the page says that it prints. */
export interface Program {
  readonly code: string
  readonly prints: string | undefined
}

/** The blocks of a page, in their order. */
export async function fencesOf(page: string): Promise<readonly Fence[]> {
  const text = await readFile(new URL(page, root), 'utf8')
  return Array.from(text.matchAll(/^```([^\n]*)\n(.*?)^```$/gms), ([, info = '', code = '']) => ({
    info,
    text: code,
  }))
}

/** Every TypeScript block of a page is a program, and the block behind it is what it prints. */
export async function programsOf(page: string): Promise<readonly Program[]> {
  const fences = await fencesOf(page)
  return fences.flatMap(({ info, text }, place) => {
    if (info !== 'ts') return []
    const next = fences[place + 1]
    return [{ code: text, prints: next?.info === 'text' ? next.text : undefined }]
  })
}

/** Runs a program that imports the library, and packages that are installed here, by their names. */
export async function printedBy(program: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-page-'))
  try {
    const file = join(folder, 'program.mts')
    await writeFile(file, resolveImports(program))
    return (await run(process.execPath, [tsx, file], { cwd: folder })).stdout
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function resolveImports(program: string): string {
  return program.replaceAll(/ from '([^']+)'/g, (_, name: string) => ` from ${JSON.stringify(locate(name))}`)
}

function locate(name: string): string {
  if (isBuiltin(name)) return name
  if (name === 'holdfast') return new URL('src/index.ts', root).href
  const [, entry] = /^holdfast\/(.+)$/.exec(name) ?? []
  return entry === undefined
    ? pathToFileURL(createRequire(import.meta.url).resolve(name)).href
    : new URL(`src/entries/${entry}.ts`, root).href
}
