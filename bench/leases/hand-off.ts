import { setTimeout as delay } from 'node:timers/promises'

import type { Contestant } from '../compare.ts'
import { startChild } from '../child.ts'
import { warmUp, ways, type Way } from './ways.ts'

export interface Stage {
  readonly url: string
  readonly way: Way
  readonly name: string
  /** How often both processes take and release a lock of their own before, and a quarter as often hand one over. */
  readonly warmUp: number
}

type Closing = Contestant & { readonly close: () => Promise<void> }

/** From the call that releases in this process until another one has the lock, in milliseconds. */
export async function afterRelease(contestant: string, stage: Stage): Promise<Closing> {
  const { url, way, name, warmUp: cycles } = stage
  const own = ways[way](url)
  const other = await startChild('leases/peer.ts', [url, way, name, '30000', String(cycles)])
  const handOver = async (afterMs: number): Promise<number> => {
    const release = await own.take(name)
    const taking = other.ask('take')
    await delay(afterMs)
    const before = process.hrtime.bigint()
    await release()
    const granted = BigInt(await taking)
    await other.ask('release')
    return Number(granted - before) / 1e6
  }
  await warmUp(own, cycles)
  // the waiting too: but for those who poll, whose waiting is all that they do
  if (way !== 'polling') for (let left = cycles / 4; left > 0; left -= 1) await handOver(3)
  return {
    name: contestant,
    // long enough to wait, and at any point of a pause between two looks
    round: () => handOver(30 + Math.random() * 100),
    close: async () => {
      await other.end()
      await own.close()
    },
  }
}

export const ttlMs = 1000

/** From the death of a process that has just been granted the lock until another has it, in milliseconds. */
export async function afterDeath(contestant: string, { url, way, name }: Stage): Promise<Closing> {
  const own = ways[way](url)
  return {
    name: contestant,
    round: async () => {
      const holder = await startChild('leases/peer.ts', [url, way, name, String(ttlMs)])
      await holder.ask('take')
      const before = process.hrtime.bigint()
      const taking = own.take(name, ttlMs)
      await holder.kill()
      const release = await taking
      const granted = process.hrtime.bigint()
      await release()
      return Number(granted - before) / 1e6
    },
    close: own.close,
  }
}
