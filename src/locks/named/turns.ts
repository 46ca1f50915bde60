import { deadlineIn, type Deadline } from '../../core/deadline.ts'
import type { Abortable } from '../abort.ts'
import { takeFreeTurn, takeTurn, type Lanes } from '../lane.ts'
import type { NamedKey } from './named-key.ts'

/** The turns that one call has in the lines of its process, one for each of its locks. */
export interface Turns {
  readonly lanes: Lanes
  readonly limits: Parameters<typeof takeTurn>[1]
  /** What ends each of those that it has. */
  readonly endings: (() => void)[]
}

/** What is needed to take turns, for no longer than any of these. */
export function turnsWithin(
  deadlines: readonly Deadline[],
  { lanes, signal }: { readonly lanes: Lanes; readonly signal: Abortable | undefined },
): Turns {
  const deadline = deadlineIn(Math.min(...deadlines.map(({ remainingMs }) => remainingMs())))
  return { lanes, limits: { deadline, signal }, endings: [] }
}

/** Takes them one after another: at once, where nobody stands in front. */
export function takeTurns(names: readonly NamedKey[], turns: Turns, from = 0): Promise<void> | undefined {
  const { lanes, limits, endings } = turns
  for (let next = from; next < names.length; next += 1) {
    const lane = names[next]?.id ?? ''
    const end = takeFreeTurn(lane, lanes)
    if (end === undefined) {
      return takeTurn(lane, limits, lanes).then((endTurn) => {
        endings.push(endTurn)
        return takeTurns(names, turns, next + 1)
      })
    }
    endings.push(end)
  }
  return undefined
}

export function endTurns({ endings }: Turns): void {
  for (let end = endings.pop(); end !== undefined; end = endings.pop()) end()
}
