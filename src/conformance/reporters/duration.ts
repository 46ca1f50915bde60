/** A duration for people: `840 ms`, `12.3 s`, `2 min 5 s`. */
export function showDuration(ms: number): string {
  if (!(ms > 0)) return '0 ms'
  if (ms < 1000) return `${ms < 10 ? trim(ms) : Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

function trim(ms: number): string {
  return String(Number(ms.toFixed(1)))
}

/** JUnit counts in seconds. */
export function inSeconds(ms: number): string {
  return (ms / 1000).toFixed(3)
}
