import { figureText } from './figure-text.ts'
import type { Section, SectionRow } from './scenario.ts'

const width = 720
const labelWidth = 250
const figureWidth = 80
const rowHeight = 30
const barHeight = 16
const top = 44

/** Follows the reader's colours; a viewer that knows none of them gets dark on white. */
const style = `
    .paper { fill: #ffffff } .ink { fill: #1f2328 } .soft { fill: #59636e }
    .bar { fill: #8c959f } .own { fill: #0969da } .line { stroke: #1f2328; stroke-width: 1.5 }
    text { font: 13px system-ui, sans-serif } .title { font-weight: 600 }
    @media (prefers-color-scheme: dark) {
      .paper { fill: #0d1117 } .ink { fill: #e6edf3 } .soft { fill: #9198a1 }
      .bar { fill: #6e7681 } .own { fill: #4493f8 } .line { stroke: #e6edf3 }
    }`

/** Bars from 0 with the quartiles as whiskers, one for each contestant. Ours have a colour of their own. */
export function chartOf({ title, unit, isMoreBetter, rows }: Section): string {
  const most = Math.max(0, ...rows.map(({ median, high }) => Math.max(median, high))) || 1
  const scale = (width - labelWidth - figureWidth) / most
  const height = top + rows.length * rowHeight + 8
  const better = `${unit}, ${isMoreBetter ? 'more' : 'less'} is better`
  const lines = rows.flatMap((row, index) => rowLines(row, { y: top + index * rowHeight, scale }))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `  <title>${escaped(`${title} (${better})`)}</title>`,
    `  <style>${style}`,
    '  </style>',
    `  <rect class="paper" width="${width}" height="${height}" rx="6"/>`,
    `  <text class="ink title" x="12" y="20">${escaped(shortened(title, 95))}</text>`,
    `  <text class="soft" x="12" y="37">${escaped(better)}</text>`,
    ...lines.map((line) => `  ${line}`),
    '</svg>',
    '',
  ].join('\n')
}

function rowLines(
  { name, median, low, high }: SectionRow,
  { y, scale }: { readonly y: number; readonly scale: number },
): readonly string[] {
  const middle = y + rowHeight / 2
  const at = (figure: number): string => (labelWidth + figure * scale).toFixed(1)
  const whisker = (from: string, to: string, [up, down]: readonly [number, number]): string =>
    `<line class="line" x1="${from}" y1="${middle + up}" x2="${to}" y2="${middle + down}"/>`
  const own = name.startsWith('Holdfast') ? 'own' : 'bar'
  return [
    `<text class="ink" x="${labelWidth - 10}" y="${middle + 4}" text-anchor="end">${escaped(shortened(name, 34))}</text>`,
    `<rect class="${own}" x="${labelWidth}" y="${middle - barHeight / 2}" width="${(median * scale).toFixed(1)}" height="${barHeight}" rx="2"/>`,
    whisker(at(low), at(high), [0, 0]),
    whisker(at(low), at(low), [-4, 4]),
    whisker(at(high), at(high), [-4, 4]),
    `<text class="ink" x="${Number(at(Math.max(median, high))) + 8}" y="${middle + 4}">${figureText(median)}</text>`,
  ]
}

function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
