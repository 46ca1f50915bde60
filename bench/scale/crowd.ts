import { startChild, type Child } from '../child.ts'
import type { Way } from '../leases/ways.ts'

export interface Crowd {
  readonly url: string
  readonly way: Way
  readonly name: string
  /** How many wait, in all processes together. */
  readonly waiters: number
  readonly processes: number
  /** How many connections each process has. */
  readonly connections: number
  /** How often a lock is taken and given back in each process before. */
  readonly warmUp: number
}

export interface CrowdResult {
  /** From one grant to the next. */
  readonly usPerHandOff: number
  /** The process that had the fewest grants by the middle of them, by the one that had the most. */
  readonly fairness: number
  readonly heapPerWaiter: number
}

/** Lets many wait for one lock while it is held, and then have it one after another. */
export async function runCrowd({ processes, waiters, ...crowd }: Crowd): Promise<CrowdResult> {
  const each = Math.ceil(waiters / processes)
  const { url, way, name, connections, warmUp } = crowd
  const args = [url, way, name, String(each), String(connections), String(warmUp)]
  const crew: Child[] = []
  try {
    for (let index = 0; index < processes; index += 1) crew.push(await startChild('scale/waiter.ts', args))
    await crew[0]?.ask('hold')
    const heaps = await Promise.all(crew.map(async (one) => JSON.parse(await one.ask('wait')) as number))
    const grants = await Promise.all(crew.map(async (one) => JSON.parse(await one.ask('go')) as number[]))
    const order = grants
      .flatMap((times, process) => times.map((at) => ({ at, process })))
      .toSorted((a, b) => a.at - b.at)
    const first = order[0]?.at ?? NaN
    const last = order.at(-1)?.at ?? NaN
    const early = crew.map(
      (_, index) => order.slice(0, order.length / 2).filter(({ process }) => process === index).length,
    )
    return {
      usPerHandOff: ((last - first) * 1000) / (order.length - 1),
      fairness: Math.min(...early) / Math.max(...early),
      heapPerWaiter: heaps.reduce((sum, bytes) => sum + bytes, 0) / order.length,
    }
  } finally {
    await Promise.all(crew.map((one) => one.end()))
  }
}
