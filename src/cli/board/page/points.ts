import type { Point } from '../look.ts'

const spanMs = 600_000
/** A longer pause than this between two points is drawn as one: nobody has looked. */
const gapMs = 15_000
/** Of the picture, in its own units. */
export const [width, height] = [600, 64]

/** The points of the line, in pieces: between two of them nobody has looked. */
export function pathOf(
  points: readonly Point[],
  curve: (point: Point) => number | undefined,
  top: number,
): string {
  const now = points.at(-1)?.at ?? 0
  let before = -Infinity
  return points
    .flatMap((point) => {
      const value = curve(point)
      if (value === undefined || point.at < now - spanMs) return []
      const x = width - ((now - point.at) / spanMs) * width
      const y = height - 2 - (value / Math.max(top, 1)) * (height - 6)
      const isNew = point.at - before > gapMs
      before = point.at
      // a point that stands alone would not be seen
      return [`${isNew ? `M${round(x)} ${round(y)}h.01` : ''}L${round(x)} ${round(y)}`]
    })
    .join('')
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

/** Points of before and after, each once, and none that is older than the graph. */
export function joined(known: readonly Point[], more: readonly Point[]): readonly Point[] {
  const last = known.at(-1)?.at ?? -Infinity
  const all = [...known, ...more.filter(({ at }) => at > last)]
  const newest = all.at(-1)?.at ?? 0
  return all.filter(({ at }) => at > newest - spanMs)
}
