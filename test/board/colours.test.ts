import { readFile } from 'node:fs/promises'

import { describe, expect, test } from 'vitest'

/*
 * Whether the colours of the board can be read: https://www.w3.org/TR/WCAG22/#contrast-minimum
 */

const css = await readFile(new URL('../../src/cli/board/page/page.css', import.meta.url), 'utf8')

/** The colours of the page by their names, in the order of the schemes: light, dark. */
const schemes = [...css.matchAll(/:root \{([^}]*)\}/g)].map(
  ([, block = '']) =>
    new Map(
      [...block.matchAll(/--([\w-]+): (#[0-9a-f]{3,6})/g)].map(([, name = '', colour = '']) => [
        name,
        colour,
      ]),
    ),
)

function luminance(colour: string): number {
  const digits =
    colour.length === 4
      ? colour
          .slice(1)
          .split('')
          .map((one) => one + one)
      : colour.slice(1).match(/../g)
  const [red = 0, green = 0, blue = 0] = (digits ?? [])
    .map((pair) => parseInt(pair, 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

test('black on white is the most there is', () => {
  expect(contrast('#000', '#ffffff')).toBeCloseTo(21)
})

describe.each([
  ['light', schemes[0]],
  ['dark', schemes[1]],
])('in the %s', (_, colours) => {
  const pairs: readonly (readonly [string, string])[] = [
    ...['text', 'dim', 'brand', 'accent', 'waits', 'bad', 'good'].flatMap((name) =>
      ['back', 'card'].map((back) => [name, back] as const),
    ),
    ['text', 'waits-back'],
    ['text', 'bad-back'],
    ['waits', 'waits-back'],
  ]
  test.each(pairs)('%s on %s can be read', (front, back) => {
    expect(contrast(colours?.get(front) ?? '', colours?.get(back) ?? '')).toBeGreaterThanOrEqual(4.5)
  })
})
