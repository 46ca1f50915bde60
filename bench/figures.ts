/** The middle of some times, and what 19 of 20 stay below. */
export interface Spread {
  readonly medianMs: number
  readonly p95Ms: number
}

export function spreadOf(times: readonly number[]): Spread {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (part: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN
  return { medianMs: at(0.5), p95Ms: at(0.95) }
}

/** Rows of cells in columns, as wide as they need to be. */
export function tableOf(rows: readonly (readonly string[])[]): readonly string[] {
  const columns = Math.max(...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

export function shortCount(count: number): string {
  if (count >= 1_000_000 && count % 100_000 === 0) return `${count / 1_000_000}M`
  return count >= 1000 && count % 100 === 0 ? `${count / 1000}k` : String(count)
}
