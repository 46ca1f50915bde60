import { markdownTable } from '../conformance/reporters/markdown-text.ts'
import { painter, stateStyles } from '../conformance/reporters/paint.ts'
import { textTable, type Screen, type TextCell } from '../conformance/reporters/text-table.ts'
import { visible } from '../conformance/reporters/visible.ts'
import { categories } from '../core/category.ts'
import type { Support } from '../core/support.ts'
import { supportMatrix } from '../matrix.ts'
import { registry } from '../registry.ts'
import { readServer, type NamedServer } from './server-name.ts'

/** Every dialect, at the version that is assumed for it. */
export function allServers(): readonly NamedServer[] {
  return Object.keys(registry).map(readServer)
}

/** The support matrix as Markdown: a row for each category, a column for each server. README shows this one. */
export function matrixAsMarkdown(servers: readonly NamedServer[]): string {
  const escaped = rowsOf(servers).map((row) => row.map(({ text }) => text.replaceAll('|', String.raw`\|`)))
  return markdownTable(escaped)
}

export function matrixAsText(servers: readonly NamedServer[], screen: Screen): string {
  return textTable(rowsOf(servers), screen.columns, painter(screen.hasColour)).join('\n')
}

function rowsOf(servers: readonly NamedServer[]): readonly (readonly TextCell[])[] {
  const cells = supportMatrix(servers)
  const head = servers.map(({ dialect, version }): TextCell => ({
    text: visible(`${dialect.title} ${version}`),
    style: 'bold',
  }))
  const rows = categories.map((category) =>
    [{ text: category } as TextCell].concat(
      cells.filter((cell) => cell.category === category).map(({ support }) => supportCell(support)),
    ),
  )
  return [[{ text: 'lock', style: 'bold' }, ...head], ...rows]
}

function supportCell(support: Support): TextCell {
  const { level } = support
  return {
    text: level === 'unsupported' ? 'no' : `${level}, ${support.granularity}`,
    style: stateStyles[level],
  }
}
