/** For how long the event loop had no turn, in milliseconds. */
export interface Gaps {
  readonly p99Ms: number
  readonly longestMs: number
}

/** Watches the event loop until it is told to stop. */
export function watchEventLoop(): () => Gaps {
  const gaps: number[] = []
  let last = performance.now()
  const note = (): void => {
    const now = performance.now()
    gaps.push(now - last)
    last = now
  }
  const timer = setInterval(note, 1)
  return () => {
    note() // a loop that never had a turn again ends with its longest gap
    clearInterval(timer)
    const sorted = gaps.toSorted((a, b) => a - b)
    const at = (share: number): number =>
      sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
    return {
      p99Ms: at(0.99),
      longestMs: sorted.at(-1) ?? 0,
    }
  }
}
