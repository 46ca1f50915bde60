import type { Point } from '../look.ts'
import { element, setText, show } from './dom.ts'

const spanMs = 600_000
/** A longer pause than this between two points is drawn as one: nobody has looked. */
const gapMs = 15_000
const [width, height] = [600, 64]

/** One figure over the last ten minutes. */
export interface Curve {
  readonly name: string
  readonly of: (point: Point) => number | undefined
  readonly text: (value: number) => string
}

/** The points of the line, in pieces: between two of them nobody has looked. Pure, for tests. */
export function pathOf(points: readonly Point[], curve: Curve['of'], top: number): string {
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

export interface Graph {
  readonly node: HTMLElement
  readonly draw: (points: readonly Point[]) => void
}

export function graphOf({ name, of, text }: Curve): Graph {
  const [value, most] = [element('strong'), element('span', { class: 'most' })]
  const path = svg('path', { class: 'line' })
  const picture = svg('svg', {
    viewBox: `0 0 ${width} ${height}`,
    preserveAspectRatio: 'none',
    role: 'img',
  })
  picture.append(path)
  const node = element('figure', { class: 'graph' }, element('figcaption', {}, name, value, most), picture)
  return {
    node,
    draw: (points) => {
      const values = points.flatMap((point) => of(point) ?? [])
      const [top, last] = [Math.max(0, ...values), values.at(-1)]
      show(node, last !== undefined)
      setText(value, text(last ?? 0))
      setText(most, `most ${text(top)}`)
      path.setAttribute('d', pathOf(points, of, top))
      picture.setAttribute(
        'aria-label',
        `${name} in the last ten minutes: now ${text(last ?? 0)}, most ${text(top)}`,
      )
    },
  }
}

function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>>,
): SVGElementTagNameMap[K] {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag)
  for (const [name, text] of Object.entries(attributes)) made.setAttribute(name, text)
  return made
}

/** Points of before and after, each once, and none that is older than the graph. */
export function joined(known: readonly Point[], more: readonly Point[]): readonly Point[] {
  const last = known.at(-1)?.at ?? -Infinity
  const all = [...known, ...more.filter(({ at }) => at > last)]
  const newest = all.at(-1)?.at ?? 0
  return all.filter(({ at }) => at > newest - spanMs)
}
