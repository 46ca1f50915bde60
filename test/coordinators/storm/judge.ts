import type { Ended, Entry, Failed, Looked } from './log.ts'

/** What a log proves. */
export interface Verdict {
  /** How many times the lease was held. */
  readonly holders: number
  /** Two who relied on the lease at one time, or a fence that did not rise: one line for each. */
  readonly overlaps: readonly string[]
  /** The longest time in which nobody relied on the lease, between two who did. */
  readonly longestGapMs: number
  readonly failures: readonly string[]
}

/** The time in which one holder could rely on the lease. */
interface Hold {
  readonly by: number
  readonly fence: number
  readonly from: number
  readonly to: number
}

/**
 * Goes through the holders in the order of their fences: each must have begun after the time of all before it was over.
 *
 * The time of a holder is as long as its lease has ever promised, also when it was killed or stopped meanwhile, and ends
 * sooner only where the holder has said so itself before it released the lease.
 */
export function judge(entries: readonly Entry[]): Verdict {
  const holds = holdsIn(entries).toSorted((one, other) => one.fence - other.fence)
  const overlaps: string[] = []
  let last: Hold | undefined
  let longestGapMs = 0
  for (const hold of holds) {
    if (last !== undefined) {
      const gapMs = hold.from - last.to
      longestGapMs = Math.max(longestGapMs, gapMs)
      if (hold.fence === last.fence) overlaps.push(`${nameOf(hold)} and ${nameOf(last)} have the same fence`)
      else if (gapMs < 0)
        overlaps.push(`${nameOf(hold)} began ${(-gapMs).toFixed(1)} ms before ${nameOf(last)} was over`)
    }
    if (last === undefined || hold.to > last.to) last = hold
  }
  const failures = entries.filter((entry): entry is Failed => 'failed' in entry)
  return { holders: holds.length, overlaps, longestGapMs, failures: failures.map(({ failed }) => failed) }
}

function nameOf({ by, fence }: Hold): string {
  return `process ${by} with the fence ${fence}`
}

/** Two processes that claim one fence are two holders. One that woke up too late to rely on its lease is none. */
function holdsIn(entries: readonly Entry[]): readonly Hold[] {
  const ends = new Map<string, number>()
  const holds = new Map<string, Hold>()
  for (const entry of entries) {
    if ('endedAt' in entry) ends.set(keyOf(entry), entry.endedAt)
    if (!('until' in entry) || entry.until <= entry.at) continue
    const { by, fence, at, until } = entry
    const { from, to } = holds.get(keyOf(entry)) ?? { from: at, to: until }
    holds.set(keyOf(entry), { by, fence, from, to: Math.max(to, until) })
  }
  return [...holds].map(([key, hold]) => ({ ...hold, to: Math.min(hold.to, ends.get(key) ?? hold.to) }))
}

function keyOf({ by, fence }: Looked | Ended): string {
  return `${by} ${fence}`
}
