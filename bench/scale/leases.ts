import { quantile } from '../compare.ts'
import { startChild } from '../child.ts'
import { openPool } from '../pool.ts'
import type { Bench, Section } from '../scenario.ts'
import { curveOf, type Point } from './curve.ts'

interface Step {
  readonly cpuMs: number
  readonly memory: number
}

/** Leases that one process holds and renews. */
export async function heldLeases(
  bench: Bench,
  url: string,
  { counts, ttlMs }: { readonly counts: readonly number[]; readonly ttlMs: number },
): Promise<Section> {
  const points = ['Holdfast', 'hand-written'].flatMap((way) =>
    counts.map((count) => pointOf(way, count, { url, ttlMs })),
  )
  const title = `a renewal, many leases held, ttlMs ${ttlMs}`
  const notes = ['Time of the processor in the client. Each lease is renewed once in a third of its time.']
  return curveOf(bench, { title, unit: 'us of CPU', points, rounds: 1, notes })
}

function pointOf(way: string, count: number, { url, ttlMs }: { url: string; ttlMs: number }): Point {
  const heap: number[] = []
  const core: number[] = []
  return {
    way,
    count,
    cost: async () => {
      const keeper = await startChild('leases/keeper.ts', [
        url,
        way.toLowerCase(),
        String(count),
        String(ttlMs),
      ])
      const step = async (line: string): Promise<Step> => JSON.parse(await keeper.ask(line)) as Step
      heap.push((await step('take')).memory / count)
      await step('keep') // the first renewals are spread over the time that taking them took
      const { cpuMs } = await step('keep')
      core.push((cpuMs * 300) / ttlMs)
      await step('release')
      await keeper.end()
      const pool = openPool(url, 1)
      await pool.query("DELETE FROM bench_lease WHERE name LIKE 'kept %'")
      await pool.end()
      return (cpuMs * 1000) / count
    },
    more: () => ({ '% of a core': quantile(core, 0.5), 'bytes of heap per lease': quantile(heap, 0.5) }),
  }
}
