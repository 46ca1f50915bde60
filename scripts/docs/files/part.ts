import { markdownTable } from '../../../src/conformance/reporters/markdown-text.ts'
import { code, prose } from '../markdown.ts'

/** Some files of what is measured, and what they are for. */
export interface Part {
  readonly what: string
  /** Files that are new with it, or lines of a file that is there. */
  readonly change: 'new' | 'edited'
  readonly paths: readonly string[]
}

/** A table of the parts that there are, with their numbers. */
export function partsTable(parts: readonly Part[]): string {
  const rows = parts
    .filter(({ paths }) => paths.length > 0)
    .map(({ what, change, paths }) => [String(paths.length), change, shown(paths), prose(what)])
  return markdownTable([['files', '', 'where', 'what for'], ...rows])
}

/** Many files of one folder by their names alone. */
function shown(paths: readonly string[]): string {
  const folders = grouped(paths)
  return [...folders]
    .map(([folder, inside]) => {
      if (inside.length === 1) return code(inside[0] ?? '')
      return `${code(folder)}: ${inside.map((path) => code(path.slice(folder.length))).join(', ')}`
    })
    .join('<br>')
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1)
}

function grouped(paths: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const folders = [...new Set(paths.map(folderOf))]
  return new Map(folders.map((folder) => [folder, paths.filter((path) => folderOf(path) === folder)]))
}

/** How many files are new, and how many are edited. */
export function total(parts: readonly Part[]): { readonly added: number; readonly edited: number } {
  const count = (change: Part['change']): number =>
    parts.filter((part) => part.change === change).reduce((sum, { paths }) => sum + paths.length, 0)
  return { added: count('new'), edited: count('edited') }
}
