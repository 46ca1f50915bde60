import { fileURLToPath } from 'node:url'

import { figureText, isMet } from '../../../bench/figure-text.ts'
import { readResults, type Result } from '../../../bench/result.ts'
import { markdownTable } from '../../../src/conformance/reporters/markdown-text.ts'
import { prose } from '../markdown.ts'
import { noArguments, project, type Generator } from '../place.ts'

/** What was promised of each comparison, and what the last run has reached; `speed orms` has the figures of one. */
export const speed: Generator = async ([scenario, ...rest]) => {
  noArguments(rest)
  const results = await readResults(fileURLToPath(new URL('bench/results/', project)))
  if (scenario !== undefined) return figuresOf(results, scenario)
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

/** Each contestant of each section. */
function figuresOf(results: readonly Result[], scenario: string): string {
  const result = results.find(({ id }) => id === scenario)
  if (result === undefined) throw new Error(`${scenario} was not measured`)
  const more = [
    ...new Set(result.sections.flatMap(({ rows }) => rows.flatMap((row) => Object.keys(row.more ?? {})))),
  ]
  const rows = result.sections.flatMap(({ title, unit, rows: own }) =>
    own.map(({ name, median, low, high, more: others = {} }, index) => [
      index === 0 ? prose(title) : '',
      prose(name),
      `${figureText(median)} ${unit} (${figureText(low)} to ${figureText(high)})`,
      ...more.map((one) => (others[one] === undefined ? '' : String(others[one]))),
    ]),
  )
  return markdownTable([['what', 'way', 'median and quartiles', ...more], ...rows])
}
