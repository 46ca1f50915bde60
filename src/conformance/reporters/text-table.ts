import type { Paint, Style } from './paint.ts'
import { padTo, widthOf } from './visible.ts'

export interface TextCell {
  readonly text: string
  readonly style?: Style
}

/** How wide the screen is, and whether it shows colours. */
export interface Screen {
  readonly columns: number
  readonly hasColour: boolean
}

const gap = 2

/** Rows with aligned columns. What is too wide for the screen goes on below, with the first column repeated. */
export function textTable(
  rows: readonly (readonly TextCell[])[],
  columns: number,
  paint: Paint,
): readonly string[] {
  const widths = (rows[0] ?? []).map((_, index) =>
    Math.max(...rows.map((row) => widthOf(row[index]?.text ?? ''))),
  )
  const blocks = blocksOf(widths, columns).map((block) =>
    rows.map((row) => lineOf(row, [0, ...block], { widths, paint })).join('\n'),
  )
  return blocks.join('\n\n').split('\n')
}

/** Which columns stand beside each other; the first one stands in every block. */
function blocksOf(widths: readonly number[], columns: number): readonly (readonly number[])[] {
  const blocks: number[][] = [[]]
  let room = columns - (widths[0] ?? 0)
  for (const [index, width] of widths.entries()) {
    if (index === 0) continue
    const block = blocks.at(-1)
    if (block === undefined || (block.length > 0 && room < width + gap)) {
      blocks.push([index])
      room = columns - (widths[0] ?? 0) - width - gap
    } else {
      block.push(index)
      room -= width + gap
    }
  }
  return blocks
}

interface Look {
  readonly widths: readonly number[]
  readonly paint: Paint
}

function lineOf(row: readonly TextCell[], indexes: readonly number[], { widths, paint }: Look): string {
  const last = indexes.at(-1)
  return indexes
    .map((index) => {
      const { text = '', style } = row[index] ?? {}
      const padding = index === last ? '' : padTo('', (widths[index] ?? 0) - widthOf(text))
      return `${text === '' ? '' : paint(style, text)}${padding}`
    })
    .join(' '.repeat(gap))
    .trimEnd()
}
