import type { Goal, Section } from './scenario.ts'

/** A figure as a reader wants it: about three digits that mean something, thousands apart. */
export function figureText(figure: number): string {
  const size = Math.abs(figure)
  const digits = size >= 100 || figure === 0 ? 0 : size >= 10 ? 1 : size >= 0.1 ? 2 : 4
  return figure.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

export function isMet({ reached, must, isAtMost = false }: Goal): boolean {
  return isAtMost ? reached <= must : reached >= must
}

/** `1.72, must be at least 1.60` */
export function goalText(goal: Goal): string {
  const { reached, must, isAtMost = false } = goal
  return `${figureText(reached)}, must be at ${isAtMost ? 'most' : 'least'} ${figureText(must)}`
}

/** Each contestant against the first, as factors of the medians. */
function againstFirst({ rows }: Section): readonly string[] {
  const [first] = rows
  return rows.map(({ median }) => `${figureText(median / (first?.median ?? NaN))} x`)
}

/** The names of the other figures, in the order in which they come. */
function moreNames({ rows }: Section): readonly string[] {
  return [...new Set(rows.flatMap(({ more = {} }) => Object.keys(more)))]
}

/** A section as cells, with a head. */
export function cellsOf(section: Section): readonly (readonly string[])[] {
  const { rows, unit } = section
  const names = moreNames(section)
  const factors = againstFirst(section)
  return [
    ['', unit, 'quartiles', 'to the first', ...names],
    ...rows.map(({ name, median, low, high, more = {} }, index) => [
      name,
      figureText(median),
      `${figureText(low)} - ${figureText(high)}`,
      factors[index] ?? '',
      ...names.map((one) => (more[one] === undefined ? '' : figureText(more[one]))),
    ]),
  ]
}
