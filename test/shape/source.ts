import { readdir, readFile } from 'node:fs/promises'
import { parseSync } from 'oxc-parser'

/** One file of the library. `path` starts at the project's folder, as in `src/core/plan.ts`. */
export interface Source {
  readonly path: string
  readonly text: string
}

/** A piece of a file's syntax. */
export interface SyntaxNode {
  readonly type: string
  readonly [field: string]: unknown
}

const projectFolder = new URL('../../', import.meta.url)

/** All files under `src`. */
export async function readSources(): Promise<readonly Source[]> {
  const names = await readdir(new URL('src/', projectFolder), { recursive: true })
  const paths = names.filter((name) => name.endsWith('.ts')).map((name) => `src/${name}`)
  return Promise.all(paths.toSorted().map(readSource))
}

export async function readSource(path: string): Promise<Source> {
  return { path, text: await readFile(new URL(path, projectFolder), 'utf8') }
}

/** Every piece of a file's syntax, each before the pieces inside it. Comments are not syntax. */
export function nodesOf({ path, text }: Source): readonly SyntaxNode[] {
  const { program, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path} cannot be read: ${errors[0]?.message}`)
  const found: SyntaxNode[] = []
  collect(program, found)
  return found
}

function collect(value: unknown, found: SyntaxNode[]): void {
  if (typeof value !== 'object' || value === null) return
  if (isNode(value)) found.push(value)
  for (const inner of Object.values(value)) collect(inner, found)
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/** A file that exists only in a test. */
export function planted(path: string, ...lines: string[]): Source {
  return { path, text: lines.join('\n') }
}
