import { watchStandstill } from '../../src/conformance/awake.ts'

/** What is seen without a standstill. What was seen in one says nothing, and is looked at again. */
export async function seenAwake<Seen>(look: () => Promise<Seen>): Promise<Seen> {
  for (let tries = 1; ; tries += 1) {
    const stoodStill = watchStandstill()
    const seen = await look()
    if (!stoodStill() || tries === 10) return seen
  }
}

/** Nothing of the process goes on meanwhile, as when its machine is suspended. */
export function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
