import { figureText, isMet } from './figure-text.ts'
import { tableOf } from './figures.ts'
import type { Goal } from './scenario.ts'

/** A goal, and the scenario that it is of. */
export interface FoundGoal {
  readonly id: string
  readonly goal: Goal
}

/** `met      1.15 (1.10 - 1.19), at least 1.10  advisory: Holdfast on pg against pg by hand, direct` */
export function goalLine({ id, goal }: FoundGoal): string {
  return (
    tableOf([
      [verdictOf(goal).padEnd('NOT MET ?'.length), reachedText(goal), mustText(goal), `${id}: ${goal.what}`],
    ])[0] ?? ''
  )
}

/** All of them in columns. */
export function goalTable(found: readonly FoundGoal[]): readonly string[] {
  return tableOf([
    ['', 'reached', 'quartiles', 'must be', 'scenario', 'goal'],
    ...found.map(({ id, goal }) => [
      verdictOf(goal),
      figureText(goal.reached),
      spreadText(goal),
      mustText(goal),
      id,
      goal.what,
    ]),
  ])
}

/** What is not met by less than the rounds differ is not told from what is met. */
function verdictOf(goal: Goal): string {
  const { low = goal.reached, high = goal.reached, must } = goal
  const isNear = low <= must && must <= high && low < high
  return `${isMet(goal) ? 'met' : 'NOT MET'}${isNear ? ' ?' : ''}`
}

function reachedText(goal: Goal): string {
  const spread = spreadText(goal)
  return spread === '' ? figureText(goal.reached) : `${figureText(goal.reached)} (${spread})`
}

function spreadText({ low, high }: Goal): string {
  return low === undefined || high === undefined ? '' : `${figureText(low)} - ${figureText(high)}`
}

function mustText({ must, isAtMost = false }: Goal): string {
  return `at ${isAtMost ? 'most' : 'least'} ${figureText(must)}`
}
