import type { LockMode } from '../core/request.ts'
import type { CallPlace } from './call-place.ts'

/** That one lock was asked for while another was held. */
export interface OrderEdge {
  /** The lock that was held: a class, such as `table stock`, or one lock of it, such as `table stock id=1`. */
  readonly from: string
  /** The lock that was asked for then. */
  readonly to: string
  readonly fromMode: LockMode
  readonly toMode: LockMode
  /** Which other locks were held alone: two that hold the same one cannot meet. */
  readonly gates: readonly string[]
  readonly fromPlace?: CallPlace
  readonly toPlace?: CallPlace
}

/** Edges of which each begins where the one before it ends, and the first where the last ends. */
export type OrderCycle = readonly OrderEdge[]

/** How many ways of going from one lock to another are kept. */
const mostWays = 8
/** Keys are without number, so the memory for them has an end. */
const mostEdges = 20_000
/** A cycle of more locks than these is hardly ever met, and takes long to look for. */
const longest = 6
/** How far one search may go: where very many ways lead back, and none of them closes, it would not end. */
const mostSteps = 1000

/** Which lock was asked for while which was held, in all the transactions that were seen. */
export class OrderGraph {
  readonly #edges = new Map<string, Map<string, OrderEdge[]>>()
  #count = 0
  #isFull = false
  readonly #reported = new Set<string>()

  /** Whether something was left out, because there is too much: then there may be cycles that were not seen. */
  get isFull(): boolean {
    return this.#isFull
  }

  leaveOut(): void {
    this.#isFull = true
  }

  /** Gives the cycle that the edge closes, if there is one that was not given before. */
  add(edge: OrderEdge): OrderCycle | undefined {
    const ways = this.#waysOf(edge)
    if (ways === undefined || ways.some((way) => saysAll(way, edge))) return undefined
    // what has more gates says nothing that this one does not say
    const others = ways.filter((way) => !saysAll(edge, way))
    if (others.length >= mostWays) {
      this.#isFull = true
      return undefined
    }
    ways.splice(0, ways.length, ...others, edge)
    const cycle = this.#cycleOf(edge)
    return cycle && this.#isNew(cycle) ? cycle : undefined
  }

  *edges(): Generator<OrderEdge> {
    for (const targets of this.#edges.values()) for (const ways of targets.values()) yield* ways
  }

  #waysOf({ from, to }: OrderEdge): OrderEdge[] | undefined {
    let targets = this.#edges.get(from)
    const known = targets?.get(to)
    if (known !== undefined) return known
    if (this.#count >= mostEdges) {
      this.#isFull = true
      return undefined
    }
    if (targets === undefined) {
      targets = new Map<string, OrderEdge[]>()
      this.#edges.set(from, targets)
    }
    const ways: OrderEdge[] = []
    targets.set(to, ways)
    this.#count += 1
    return ways
  }

  #isNew(cycle: OrderCycle): boolean {
    const name = cycle
      .map(({ from }) => from)
      .toSorted()
      .join('\n')
    if (this.#reported.has(name)) return false
    this.#reported.add(name)
    return true
  }

  /** The shortest that the edge closes. */
  #cycleOf(edge: OrderEdge): OrderCycle | undefined {
    if (isClosed([edge])) return [edge]
    if (!this.#leadsBack(edge)) return undefined
    const limit = { length: 2, steps: mostSteps }
    for (; limit.length <= longest; limit.length += 1) {
      const cycle = this.#search([edge], limit)
      if (cycle !== undefined) return cycle
    }
    return undefined
  }

  /** Whether there is any way at all: nearly always there is none, and that is seen soon. */
  #leadsBack({ from, to }: OrderEdge): boolean {
    const reached = new Set([to])
    for (const place of reached)
      for (const next of this.#edges.get(place)?.keys() ?? []) {
        if (next === from) return true
        reached.add(next)
      }
    return false
  }

  /** The way back from the end of a path to its beginning, by which two transactions can meet at each lock. */
  #search(path: OrderCycle, limit: { readonly length: number; steps: number }): OrderCycle | undefined {
    const last = path.at(-1)
    limit.steps -= 1
    if (limit.steps < 0) this.leaveOut()
    if (last === undefined || limit.steps < 0) return undefined
    const isLast = path.length + 1 === limit.length
    for (const [to, ways] of this.#edges.get(last.to) ?? []) {
      if (isLast ? to !== path[0]?.from : path.some(({ from }) => from === to)) continue
      for (const way of ways) {
        if (!canMeet(last, way) || !path.every((one) => noGate(one, way))) continue
        const longer = [...path, way]
        const cycle = isLast ? (isClosed(longer) ? longer : undefined) : this.#search(longer, limit)
        if (cycle !== undefined) return cycle
      }
    }
    return undefined
  }
}

function isClosed(path: OrderCycle): boolean {
  const [first, last] = [path[0], path.at(-1)]
  return first !== undefined && last?.to === first.from && canMeet(last, first)
}

/** Whether the one who asks waits for the one who holds: not when both share. */
function canMeet({ toMode }: OrderEdge, { fromMode }: OrderEdge): boolean {
  return toMode !== 'shared' || fromMode !== 'shared'
}

function noGate(one: OrderEdge, other: OrderEdge): boolean {
  return !one.gates.some((gate) => other.gates.includes(gate))
}

/** Whether whoever can meet the other can meet this one, too. */
function saysAll(one: OrderEdge, other: OrderEdge): boolean {
  return one.fromMode === other.fromMode && one.toMode === other.toMode && noneMissing(one.gates, other.gates)
}

function noneMissing(some: readonly string[], others: readonly string[]): boolean {
  return some.every((one) => others.includes(one))
}
