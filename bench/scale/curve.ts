import { compare, type Contestant } from '../compare.ts'
import { roundsFor } from '../effort.ts'
import { shortCount } from '../figures.ts'
import type { Bench, Goal, Section } from '../scenario.ts'

/** One way with so many of what there is more and more of. */
export interface Point {
  readonly way: string
  readonly count: number
  /** What one operation cost. */
  readonly cost: (round: number) => Promise<number>
  readonly more?: Contestant['more']
}

export interface Curve {
  readonly title: string
  readonly unit: string
  readonly points: readonly Point[]
  readonly rounds: number
  readonly notes?: readonly string[]
}

/** One operation of many may cost so many times what one of few does: more, and it grows with their number. */
const mostGrowth = 1.5

/** What one operation costs, the more there is of it. */
export async function curveOf(
  { effort, say, show }: Bench,
  { title, unit, points, rounds, notes = [] }: Curve,
): Promise<Section> {
  const contestants = points.map((point) => ({
    name: nameOf(point),
    round: point.cost,
    ...(point.more && { more: point.more }),
  }))
  const { rows, ratio } = await compare(contestants, { ...roundsFor(effort, { rounds }), say, title })
  const own = new Set(points.map(({ way }) => way).filter((way) => way.startsWith('Holdfast')))
  const goals = [...own].flatMap((way): Goal[] => {
    const [few, ...more] = points.filter((point) => point.way === way)
    const many = more.at(-1)
    if (few === undefined || many === undefined) return []
    const what = `${title}, ${way}: ${shortCount(many.count)} to ${shortCount(few.count)}`
    return [{ what, ...ratio(nameOf(many), nameOf(few)), must: mostGrowth, isAtMost: true }]
  })
  return show({ title, unit, isMoreBetter: false, rows, goals, notes })
}

function nameOf({ way, count }: Point): string {
  return `${way}, ${shortCount(count)}`
}
