import { placeText } from './call-place.ts'
import type { OrderCycle, OrderEdge } from './order-graph.ts'

/** What a cycle means, in words. */
export function cycleText(cycle: OrderCycle): string {
  const [first] = cycle
  if (cycle.length === 1 && first !== undefined)
    return `lock order: ${first.from} is shared and then taken alone${whereOf(first)}: two who do it at once wait for each other`
  const steps = cycle.map((edge) => `${edge.from} and then ${edge.to}${whereOf(edge)}`)
  return `lock order: ${steps.join('; but ')}: transactions that do both at once can wait for each other`
}

/** Where both were taken, as far as it is known. */
export function whereOf({ fromPlace, toPlace }: OrderEdge): string {
  const places = [fromPlace, toPlace].map((place) => (place === undefined ? '?' : placeText(place)))
  return fromPlace === undefined && toPlace === undefined ? '' : ` (${places.join(', then ')})`
}
