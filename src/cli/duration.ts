const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const

/** The two largest units that count: `3 min 5 s`. */
export function duration(ms: number): string {
  const whole = Math.max(0, Math.round(ms))
  const first = units.findIndex(([, size]) => whole >= size)
  const [unit, size] = units[first] ?? ['ms', 1]
  const [smaller, step] = units[first + 1] ?? ['ms', 1]
  const rest = Math.floor((whole % size) / step)
  const isExact = first < 0 || unit === 's' || rest === 0
  return isExact
    ? `${Math.floor(whole / size)} ${unit}`
    : `${Math.floor(whole / size)} ${unit} ${rest} ${smaller}`
}
