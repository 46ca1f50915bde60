/*
 * Draws what a program has written to a terminal, with its colours, as a picture that is text inside: it can be read
 * at any size, searched, and compared.
 */

const character = { width: 8.4, height: 19 }
const margin = 16

/** The few codes that our reporters use, by what they look like on a dark ground. */
const colours: Readonly<Record<string, string>> = {
  '30': '#484f58',
  '31': '#ff7b72',
  '32': '#3fb950',
  '33': '#d29922',
  '34': '#79c0ff',
  '35': '#d2a8ff',
  '36': '#39c5cf',
  '37': '#e6edf3',
  '90': '#8b949e',
}

interface Look {
  readonly colour?: string
  readonly isBold?: boolean
  readonly isDim?: boolean
}

interface Piece extends Look {
  readonly column: number
  readonly text: string
}

// oxlint-disable-next-line no-control-regex -- the codes of a terminal begin with one
const code = /\u001B\[([\d;]*)m/g

export interface Picture {
  /** The command, as it is typed. */
  readonly title: string
  /** What it has written. */
  readonly output: string
}

export function draw({ title, output }: Picture): string {
  const lines = [`$ ${title}`, '', ...output.trimEnd().split('\n')].map(piecesOf)
  const columns = Math.max(...lines.map(([, width]) => width))
  const width = Math.ceil(columns * character.width + 2 * margin)
  const height = lines.length * character.height + 2 * margin
  const texts = lines.flatMap(([pieces], row) => pieces.map((piece) => drawPiece(piece, row)))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escape(title)}</title>`,
    '<rect width="100%" height="100%" rx="8" fill="#0d1117"/>',
    '<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" font-size="14" fill="#e6edf3">',
    ...texts,
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

/** The pieces of a line that look alike, and how wide the line is. */
function piecesOf(line: string): readonly [readonly Piece[], number] {
  const pieces: Piece[] = []
  let look: Look = {}
  let column = 0
  let from = 0
  const add = (text: string): void => {
    if (text.trim() !== '') pieces.push({ ...look, column, text })
    column += Array.from(text).length
  }
  for (const match of line.matchAll(code)) {
    add(line.slice(from, match.index))
    from = match.index + match[0].length
    look = (match[1] ?? '').split(';').reduce(changed, look)
  }
  add(line.slice(from))
  return [pieces, column]
}

function changed(look: Look, number: string): Look {
  if (number === '' || number === '0') return {}
  if (number === '1') return { ...look, isBold: true }
  if (number === '2') return { ...look, isDim: true }
  if (number === '22') return { ...look, isBold: false, isDim: false }
  const { colour: _, ...plain } = look
  const colour = colours[number]
  return number === '39' || colour === undefined ? plain : { ...look, colour }
}

function drawPiece({ column, text, colour, isBold, isDim }: Piece, row: number): string {
  const x = (margin + column * character.width).toFixed(1)
  const y = margin + (row + 0.75) * character.height
  const looks = [
    colour === undefined ? '' : ` fill="${colour}"`,
    isBold === true ? ' font-weight="700"' : '',
    isDim === true ? ' opacity="0.65"' : '',
  ].join('')
  // the width is told, so that columns stand below each other whatever font a reader has
  const length = (Array.from(text).length * character.width).toFixed(1)
  return `<text x="${x}" y="${y}" textLength="${length}" xml:space="preserve"${looks}>${escape(text)}</text>`
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
