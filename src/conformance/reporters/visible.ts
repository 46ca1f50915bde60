/** What moves a cursor, turns the direction of a line, joins or hides characters, or is no character at all. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u{fffe}\u{ffff}]/gu

/** Text of others on one line, with what cannot be seen made visible: `␛[31m`, `a␊b`, `\u{202e}`. */
export function visible(text: string): string {
  return text.replaceAll(unseen, picture)
}

/** As {@link visible}, but the ends of lines stay, and a tab is two spaces. */
export function visibleLines(text: string): string {
  return text
    .replaceAll('\t', '  ')
    .split(/\r?\n/)
    .map((line) => visible(line))
    .join('\n')
}

/** JSON in which nothing is unseen either; it still reads back as the very same value. */
export function visibleJson(value: unknown): string {
  const text = JSON.stringify(value, undefined, 2)
  return text.replaceAll(unseen, (one) => (one === '\n' ? one : one.split('').map(utf16).join('')))
}

function picture(one: string): string {
  const code = one.codePointAt(0) ?? 0
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  return code === 0x7f ? '\u2421' : `\\u{${code.toString(16)}}`
}

function utf16(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Lines of at most `width` characters, broken between words where there are any. */
export function wrap(text: string, width: number): readonly string[] {
  return text.split('\n').flatMap((line) => wrapLine(line, Math.max(1, width)))
}

function wrapLine(line: string, width: number): readonly string[] {
  const lines: string[] = []
  let rest = Array.from(line)
  while (rest.length > width) {
    const space = rest.lastIndexOf(' ', width)
    const isBetweenWords = rest.slice(0, Math.max(0, space)).some((one) => one !== ' ')
    const end = isBetweenWords ? space : width
    lines.push(rest.slice(0, end).join('').trimEnd())
    rest = rest.slice(isBetweenWords ? end + 1 : end)
  }
  return [...lines, rest.join('')]
}

/** The start of a text, with an ellipsis where something was left out. */
export function shorten(text: string, width: number): string {
  const characters = Array.from(text)
  if (characters.length <= width) return text
  return width < 1 ? '' : `${characters.slice(0, width - 1).join('')}…`
}

export function widthOf(text: string): number {
  return Array.from(text).length
}

export function padTo(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}
