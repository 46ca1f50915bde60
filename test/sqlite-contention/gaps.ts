import { monitorEventLoopDelay } from 'node:perf_hooks'

/** For how long the event loop had no turn, in milliseconds. */
export interface Gaps {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly longestMs: number
  /** The same 99th percentile as Node's own histogram sees it. */
  readonly histogramP99Ms: number
}

/** Watches the event loop in two ways until it is told to stop. */
export function watchEventLoop(): () => Gaps {
  const histogram = monitorEventLoopDelay({ resolution: 1 })
  histogram.enable()
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
    histogram.disable()
    const sorted = gaps.toSorted((a, b) => a - b)
    const at = (share: number): number =>
      sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
    return {
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      longestMs: sorted.at(-1) ?? 0,
      histogramP99Ms: histogram.percentile(99) / 1e6,
    }
  }
}
