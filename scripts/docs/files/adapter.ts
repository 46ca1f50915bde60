import { adapterEntries, type AdapterEntry } from '../adapter-entries.ts'
import { code } from '../markdown.ts'
import { pathsUnder, readFiles, roughLines, type ProjectFile } from '../project-files.ts'
import { partsTable, total, type Part } from './part.ts'

interface Measured {
  readonly entry: AdapterEntry
  readonly parts: readonly Part[]
  readonly files: readonly ProjectFile[]
}

/** Counted on the adapter with the fewest files of those that have every part. */
export async function filesOfAdapter(): Promise<string> {
  const sources = await readFiles('src')
  const others = [
    ...(await pathsUnder('test')),
    ...(await pathsUnder('docs')),
    ...(await pathsUnder('examples')),
  ]
  const all = (await adapterEntries()).map((entry) => measure(entry, sources, others))
  const most = Math.max(...all.map(partCount))
  const measured = all
    .filter((one) => partCount(one) === most)
    .toSorted(
      (a, b) => total(a.parts).added - total(b.parts).added || roughLines(a.files) - roughLines(b.files),
    )[0]
  if (measured === undefined) throw new Error('there is no adapter')
  const { added, edited } = total(measured.parts)
  return [
    `The smallest that has every part is ${code(measured.entry.name)}: ${added} files are its own, and ${edited} others are edited. ` +
      `The adapter itself has about ${roughLines(measured.files)} lines.`,
    partsTable(measured.parts),
  ].join('\n\n')
}

/** An adapter that lacks a part is no measure. */
function partCount({ parts }: Measured): number {
  return parts.filter(({ paths }) => paths.length > 0).length
}

function measure(entry: AdapterEntry, sources: readonly ProjectFile[], others: readonly string[]): Measured {
  const { name } = entry
  const files = sources.filter(({ path }) => path.startsWith(`src/adapters/${name}/`))
  const paths = sources.map(({ path }) => path)
  const named = (list: readonly string[], ...wanted: string[]): readonly string[] =>
    list.filter((path) => wanted.includes(path))
  const parts: readonly Part[] = [
    {
      what: 'sends what it is given, and decides nothing',
      change: 'new',
      paths: files.map(({ path }) => path),
    },
    { what: 'what users import', change: 'new', paths: [entry.file] },
    {
      what: 'opens addresses for the command line',
      change: 'new',
      paths: named(paths, `src/connect/drivers/${name}.ts`),
    },
    {
      what: 'what only this driver does',
      change: 'new',
      paths: named(others, `test/adapters/${name}.test.ts`, `test/entries/${name}.test.ts`),
    },
    {
      what: 'lets the stories run through it',
      change: 'new',
      paths: named(others, `test/stories/drivers/${name}.ts`),
    },
    { what: 'its page', change: 'new', paths: named(others, `docs/adapters/${name}.md`) },
    { what: 'the export and the peer dependency', change: 'edited', paths: ['package.json'] },
    {
      what: 'the lists of drivers',
      change: 'edited',
      paths: ['src/connect/drivers.ts', ...named(others, 'test/stories/drivers.ts')],
    },
    {
      what: 'lists of what every adapter is tried with',
      change: 'edited',
      paths: named(others, 'test/adapters/subject.ts', 'test/entries/subject.ts', 'test/public-names.txt'),
    },
  ]
  return { entry, parts, files }
}
