import { categories } from '../../../src/core/category.ts'
import { code } from '../markdown.ts'
import { readFiles } from '../project-files.ts'
import { partsTable, type Part } from './part.ts'

/** Counted on the category that the fewest files of the library name. Names of one plain word mean other things too. */
export async function filesOfCategory(): Promise<string> {
  const sources = await readFiles('src')
  const measured = categories
    .filter((category) => category.includes('-'))
    .map((category) => ({
      category,
      paths: sources.filter(({ text }) => text.includes(`'${category}'`)).map(({ path }) => path),
    }))
    .toSorted((a, b) => a.paths.length - b.paths.length)[0]
  if (measured === undefined) throw new Error('there is no category')
  const { category, paths } = measured
  const within = (pattern: RegExp): readonly string[] => paths.filter((path) => pattern.test(path))
  const parts: readonly Part[] = [
    { what: 'its name, its meaning in a line, its request', change: 'edited', paths: within(/^src\/core\//) },
    {
      what: 'each dialect decides: an emitter, or a refusal with a reason',
      change: 'edited',
      paths: within(/^src\/dialects\//),
    },
    {
      what: 'the calls that take it',
      change: 'edited',
      paths: within(/^src\/(locks|[\w-]+\.ts$|adapters|entries)/),
    },
    {
      what: 'its laws, and mistakes that they notice',
      change: 'edited',
      paths: within(/^src\/conformance\//),
    },
  ]
  return [
    `${code(category)} is named in ${paths.length} files of the library. The compiler asks for those in ` +
      '`src/core` and `src/dialects`: a dialect that has not decided does not compile.',
    partsTable(parts),
  ].join('\n\n')
}
