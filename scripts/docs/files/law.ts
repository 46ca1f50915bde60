import { laws } from '../../../src/conformance/laws.ts'
import { isNode, nodesOf } from '../../../test/shape/source.ts'
import { code } from '../markdown.ts'
import { readFiles } from '../project-files.ts'
import { partsTable } from './part.ts'

interface WrittenLaw {
  readonly path: string
  readonly lines: number
  readonly id: string
}

/** Counted on all laws: how many there are, and how short one can be. */
export async function filesOfLaw(): Promise<string> {
  const written = await writtenLaws()
  const shortest = written.toSorted((a, b) => a.lines - b.lines)[0]
  if (shortest === undefined) throw new Error('there is no law')
  const chapters = new Set(written.map(({ path }) => path))
  return [
    `There are ${laws.length} laws in ${chapters.size} files. The shortest, ${code(shortest.id)}, is ` +
      `${shortest.lines} lines of ${code(shortest.path)}. A law is one entry in the file of its chapter: 1 file edited. ` +
      'A new chapter is 1 file more, and 2 lines in the list.',
    partsTable([
      { what: 'the law, in the file of its chapter', change: 'edited', paths: [shortest.path] },
      {
        what: 'for a new chapter only: the list of them',
        change: 'edited',
        paths: ['src/conformance/laws.ts'],
      },
    ]),
  ].join('\n\n')
}

async function writtenLaws(): Promise<readonly WrittenLaw[]> {
  return (await readFiles('src/conformance/laws')).flatMap((file) =>
    nodesOf(file).flatMap(({ type, callee, start, end }) => {
      if (type !== 'CallExpression' || !isNode(callee) || callee.name !== 'defineLaw') return []
      const text = file.text.slice(Number(start), Number(end))
      const id = /\bid: '([^']+)'/.exec(text)?.[1] ?? ''
      return [{ path: file.path, lines: text.split('\n').length, id }]
    }),
  )
}
