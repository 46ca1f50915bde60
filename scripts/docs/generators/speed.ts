import { fileURLToPath } from 'node:url'

import { figureText, isMet } from '../../../bench/figure-text.ts'
import { readResults } from '../../../bench/result.ts'
import { prose } from '../markdown.ts'
import { noArguments, project, type Generator } from '../place.ts'

/** What was promised of each comparison, and what the last run has reached. */
export const speed: Generator = async (args) => {
  noArguments(args)
  const results = await readResults(fileURLToPath(new URL('bench/results/', project)))
  const rows = results.flatMap(({ id, on, sections }) =>
    sections.flatMap(({ goals }) =>
      goals.map((goal) => {
        const must = `at ${goal.isAtMost === true ? 'most' : 'least'} ${figureText(goal.must)}`
        const cells = [
          `\`${id}\``,
          prose(goal.what),
          figureText(goal.reached),
          must,
          isMet(goal) ? 'yes' : '**no**',
          on,
        ]
        return `| ${cells.join(' | ')} |`
      }),
    ),
  )
  if (rows.length === 0) return 'Nothing has been measured yet.'
  return [
    '| scenario | what | reached | must be | met | measured |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n')
}
