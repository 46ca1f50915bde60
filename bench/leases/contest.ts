import { setTimeout as delay } from 'node:timers/promises'

import { postgresProtocol } from '../../test/wire/protocols.ts'
import { startProxy } from '../../test/wire/proxy.ts'
import { startChild } from '../child.ts'
import type { Way } from './ways.ts'

export interface ContestTerms {
  readonly url: string
  readonly way: Way
  readonly name: string
  readonly processes: number
  readonly perProcess: number
  readonly forMs: number
  /** How long all of them may take to have had it a few times. */
  readonly patienceMs: number
  /** How often each process takes and releases a lock of its own before. */
  readonly warmUp: number
}

export interface ContestResult {
  /** Everything that all of them ask of the server, releases included. */
  readonly queriesPerHandOff: number
  /** The fewest grants that one of them had, by the most. */
  readonly fairness: number
  readonly handOffsPerSecond: number
}

/** Lets processes contend for one lock, and counts on the wire what they ask once each has had it a few times. */
export async function contest(terms: ContestTerms): Promise<ContestResult> {
  const proxy = await startProxy(terms.url, postgresProtocol)
  const { way, name, perProcess } = terms
  const args = [proxy.url, way, name, String(perProcess), String(terms.warmUp)]
  const crew = await Promise.all(
    Array.from({ length: terms.processes }, () => startChild('leases/contender.ts', args)),
  )
  const grants = async (): Promise<readonly number[]> =>
    (await Promise.all(crew.map(async (one) => JSON.parse(await one.ask('?')) as number[]))).flat()
  try {
    const warmBy = performance.now() + terms.patienceMs
    while ((await grants()).some((count) => count < 3) && performance.now() < warmBy) await delay(50)
    const began = performance.now()
    const before = await grants()
    let after = before
    const trips = await proxy.during(async () => {
      // a machine that is busy enough makes none for a while: then there is nothing to divide by
      do {
        await delay(terms.forMs)
        after = await grants()
      } while (sum(after) === sum(before))
    })
    const tookMs = performance.now() - began
    const own = after.map((count, index) => count - (before[index] ?? 0))
    const total = sum(own)
    return {
      queriesPerHandOff: trips.length / total,
      fairness: Math.min(...own) / Math.max(...own),
      handOffsPerSecond: (total * 1000) / tookMs,
    }
  } finally {
    await Promise.all(crew.map((one) => one.end()))
    await proxy.close()
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
