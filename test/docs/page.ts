import { readdir, readFile } from 'node:fs/promises'

export const root = new URL('../../', import.meta.url)

/** A block of code on a page. */
export interface Fence {
  /** As in `docs/queues.md`. */
  readonly page: string
  /** The line of its ticks, counted from one: the code begins on the next. */
  readonly line: number
  /** What stands behind the ticks: a language, and words. */
  readonly language: string
  readonly words: readonly string[]
  readonly text: string
  /** What the page tells its reader about why this is not run: `*Not run: it needs a cluster.*` right before it. */
  readonly reason: string | undefined
  /** Between the marks of a part that a program writes, and checks. */
  readonly isGenerated: boolean
  /** How many headings stand above it. */
  readonly section: number
}

export interface Page {
  readonly name: string
  readonly fences: readonly Fence[]
}

export function placeOf({ page, line }: Pick<Fence, 'page' | 'line'>): string {
  return `${page}:${line}`
}

/** The README and every page under `docs/`. */
export async function readPages(): Promise<readonly Page[]> {
  const entries = await readdir(new URL('docs/', root), { recursive: true })
  const names = entries.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)
  return Promise.all(['README.md', ...names.toSorted()].map(readPage))
}

export async function readPage(name: string): Promise<Page> {
  return parsePage(name, await readFile(new URL(name, root), 'utf8'))
}

export function parsePage(name: string, markdown: string): Page {
  const fences: Fence[] = []
  const lines = markdown.split('\n')
  let section = 0
  let isGenerated = false
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    if (/^#+ /.test(line)) section += 1
    if (line.includes('<!-- generated:')) isGenerated = true
    if (line.includes('<!-- /generated')) isGenerated = false
    const [, indent, ticks, info] = /^([\s>]*)(`{3,}|~{3,})(.*)$/.exec(line) ?? []
    if (indent === undefined || ticks === undefined || info === undefined) continue
    const end = endOf(lines, { at, ticks, page: name })
    const [language = '', ...words] = info.trim().split(/\s+/)
    const code = lines.slice(at + 1, end).map((one) => withoutIndent(one, indent))
    const text = code.map((one) => `${one}\n`).join('')
    const reason = reasonAbove(lines.slice(0, at))
    fences.push({ page: name, line: at + 1, language, words, text, reason, isGenerated, section })
    at = end
  }
  return { name, fences }
}

function endOf(
  lines: readonly string[],
  { at, ticks, page }: { readonly at: number; readonly ticks: string; readonly page: string },
): number {
  const end = lines.findIndex((line, index) => index > at && line.replace(/^[\s>]*/, '').trimEnd() === ticks)
  if (end === -1) throw new Error(`${page}:${at + 1}: this block of code has no end`)
  return end
}

function withoutIndent(line: string, indent: string): string {
  return line.startsWith(indent) ? line.slice(indent.length) : line.trimStart()
}

/** The paragraph right above says why. */
function reasonAbove(above: readonly string[]): string | undefined {
  const text = above.join('\n').trimEnd()
  const paragraph = text.slice(text.lastIndexOf('\n\n') + 1).replaceAll(/\s+/g, ' ')
  return /(?:^|\s)\*Not run: ([^*]+)\.\*$/.exec(paragraph)?.[1]
}
