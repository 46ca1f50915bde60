import { registry } from '../../../src/registry.ts'
import { pathsUnder, readFiles, roughLines, type ProjectFile } from '../project-files.ts'
import { partsTable, total, type Part } from './part.ts'

interface DialectFolder {
  readonly name: string
  readonly title: string
  readonly files: readonly ProjectFile[]
  /** Other dialects of which it takes something. */
  readonly borrows: readonly string[]
}

/** Counted on the smallest dialect that stands on its own, and on the smallest that borrows. */
export async function filesOfDialect(): Promise<string> {
  const folders = await dialectFolders()
  const [alone, borrowing] = [smallest(folders, true), smallest(folders, false)]
  if (alone === undefined) throw new Error('no dialect stands on its own')
  const parts = await partsOf(alone)
  const { added, edited } = total(parts)
  return [
    `The smallest dialect that borrows nothing from another is ${alone.title}: ${added} files are its own, and ` +
      `${edited} others are edited. Its folder has about ${roughLines(alone.files)} lines.`,
    partsTable(parts),
    `Besides, about ${await otherTests(alone.name, parts)} files of the tests name it: tests about this database alone, ` +
      'and lists of the databases that a test can use. A driver that Holdfast does not know yet is an adapter, see below.',
    ...(borrowing === undefined
      ? []
      : [
          `A relative of a dialect needs less: ${borrowing.title} has ${borrowing.files.length} files, and takes the ` +
            `rest from ${borrowing.borrows.join(', ')}.`,
        ]),
  ].join('\n\n')
}

/** To the nearest ten. */
async function otherTests(name: string, parts: readonly Part[]): Promise<number> {
  const own = new Set(parts.flatMap(({ paths }) => paths))
  const others = (await readFiles('test')).filter(
    ({ path, text }) => !own.has(path) && new RegExp(`['"]${name}['"]`).test(text),
  )
  return Math.round(others.length / 10) * 10
}

async function dialectFolders(): Promise<readonly DialectFolder[]> {
  const sources = await readFiles('src/dialects')
  const names = Object.keys(registry)
  return Object.values(registry).map(({ name, title }) => {
    const files = sources.filter(({ path }) => path.startsWith(`src/dialects/${name}/`))
    const borrows = names.filter(
      (other) => other !== name && files.some(({ text }) => text.includes(`from '../${other}/`)),
    )
    return { name, title, files, borrows }
  })
}

function smallest(folders: readonly DialectFolder[], isAlone: boolean): DialectFolder | undefined {
  return folders
    .filter(({ borrows }) => (borrows.length === 0) === isAlone)
    .toSorted((a, b) => a.files.length - b.files.length)[0]
}

async function partsOf({ name, files }: DialectFolder): Promise<readonly Part[]> {
  const test = await pathsUnder('test')
  const docs = await pathsUnder('docs')
  const inTest = (pattern: RegExp): readonly string[] => test.filter((path) => pattern.test(path))
  const named = new RegExp(String.raw`^test/engines/${name}(-[\w-]+)?\.ts$`)
  return [
    {
      what: 'the dialect: data and small pure functions, one subject in each file',
      change: 'new',
      paths: files.map(({ path }) => path),
    },
    { what: 'how the tests get, start, watch and end a real one', change: 'new', paths: inTest(named) },
    {
      what: 'provokes each of its errors; what the driver then threw, captured by npm run errors:capture',
      change: 'new',
      paths: inTest(new RegExp(`^test/errors/(provoke|captured)/${name}\\.(ts|json)$`)),
    },
    {
      what: 'the statements as reviewed; written by the test',
      change: 'new',
      paths: inTest(new RegExp(`^test/emit/golden/${name}-[^/]+\\.txt$`)),
    },
    { what: 'its page', change: 'new', paths: docs.filter((path) => path === `docs/dialects/${name}.md`) },
    {
      what: 'an import, a line in the type, a name in the list',
      change: 'edited',
      paths: ['src/registry.ts'],
    },
    {
      what: 'tables that the compiler wants complete',
      change: 'edited',
      paths: (await readFiles('test'))
        .filter(({ text }) => /(?<!Partial<)Record<DialectName,/.test(text))
        .map(({ path }) => path),
    },
  ]
}
