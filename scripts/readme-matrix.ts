import { readFile, writeFile } from 'node:fs/promises'

import { categories, registry, supportMatrix, type SupportCell } from '../src/index.ts'

/* Writes the support matrix into README.md, between its two markers; with --check only says whether it is up to date. */
const path = new URL('../README.md', import.meta.url)
const [start, end] = ['<!-- matrix: written by npm run docs:write -->', '<!-- /matrix -->']

function matrixTable(cells: readonly SupportCell[]): string {
  const servers = Object.values(registry).map(({ name, title, versions }) => ({
    name,
    head: `${title} ${versions.assumed}`,
  }))
  const rows = categories.map((category) => [
    category,
    ...servers.map(({ name }) =>
      describe(cells.find((cell) => cell.dialect === name && cell.category === category)),
    ),
  ])
  const head = ['lock', ...servers.map((server) => server.head)]
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
}

function describe(cell: SupportCell | undefined): string {
  if (cell === undefined) throw new Error('the matrix has a hole')
  const { support } = cell
  return support.level === 'unsupported' ? 'no' : `${support.level}, ${support.granularity}`
}

const text = await readFile(path, 'utf8')
const [before, after] = [text.indexOf(start), text.indexOf(end)]
if (before === -1 || after < before) throw new Error(`README.md needs ${start} and ${end}`)
const wanted = `${text.slice(0, before + start.length)}\n${matrixTable(supportMatrix())}\n${text.slice(after)}`

if (!process.argv.includes('--check')) await writeFile(path, wanted)
else if (wanted !== text) {
  console.error('The support matrix in README.md is not what the code says: run npm run docs:write')
  process.exitCode = 1
}
