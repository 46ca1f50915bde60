import type { Point } from '../look.ts'
import { element, setText, show } from './dom.ts'
import { height, pathOf, width } from './points.ts'

/** One figure over the last ten minutes. */
export interface Curve {
  readonly name: string
  readonly of: (point: Point) => number | undefined
  readonly text: (value: number) => string
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
  const node = element(
    'figure',
    { class: 'graph' },
    element('figcaption', {}, element('span', {}, name), value, most),
    picture,
  )
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
