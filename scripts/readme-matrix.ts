import { readFile, writeFile } from 'node:fs/promises'

import { allServers, matrixAsMarkdown } from '../src/cli/matrix-table.ts'

/* Writes the support matrix into README.md, between its two markers; with --check only says whether it is up to date. */
const path = new URL('../README.md', import.meta.url)
const [start, end] = ['<!-- matrix: written by npm run docs:write -->', '<!-- /matrix -->']

const text = await readFile(path, 'utf8')
const [before, after] = [text.indexOf(start), text.indexOf(end)]
if (before === -1 || after < before) throw new Error(`README.md needs ${start} and ${end}`)
const wanted = `${text.slice(0, before + start.length)}\n${matrixAsMarkdown(allServers())}\n${text.slice(after)}`

if (!process.argv.includes('--check')) await writeFile(path, wanted)
else if (wanted !== text) {
  console.error('The support matrix in README.md is not what the code says: run npm run docs:write')
  process.exitCode = 1
}
