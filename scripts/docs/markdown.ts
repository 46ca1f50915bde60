/** Text as code, also when it has ticks of its own or stands in a cell of a table. */
export function code(text: string): string {
  const longest = Math.max(0, ...Array.from(text.matchAll(/`+/g), ([ticks]) => ticks.length))
  const ticks = '`'.repeat(longest + 1)
  const gap = longest > 0 ? ' ' : ''
  return `${ticks}${gap}${text.replaceAll('|', String.raw`\|`)}${gap}${ticks}`
}

/** A sentence of the code as text: what stands between ticks stays code, and nothing else is markup. */
export function prose(text: string): string {
  return text
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith('`') ? code(part.slice(1, -1)) : plain(part)))
    .join('')
}

function plain(text: string): string {
  return text
    .replaceAll(/[\\*_|[\]]/g, String.raw`\$&`)
    .replaceAll('<', '&lt;')
    .replaceAll('{{', '&#123;{')
}

/** With a capital letter in front, and a full stop behind. */
export function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?:]$/.test(first) ? first : `${first}.`
}
