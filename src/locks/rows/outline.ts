/** Comments, then literals and quoted names, then any other character: as MySQL reads them, which is the least strict. */
const token =
  /(?<comment>--(?=\s)[^\n]*|#[^\n]*|\/\*(?!!|M!)[^]*?\*\/)|(?<quoted>'(?:[^'\\]|'')*'|"(?:[^"\\]|"")*"|`[^`]*`)|[^]/g

/**
 * The outermost level of a query: without literals, quoted names and comments, and with nothing inside its parentheses.
 *
 * Undefined where the text may be read in two ways: a backslash in a literal, a comment that is run, a dollar quote.
 */
export function outlineOf(sql: string): string | undefined {
  if (/\$\w*\$|\/\*(?:!|M!)/.test(sql)) return undefined
  let depth = 0
  let outline = ''
  for (const { 0: part, groups = {} } of sql.matchAll(token)) {
    if (groups.comment === undefined && groups.quoted === undefined && /['"`\\]/.test(part)) return undefined
    if (part === ')') depth -= 1
    if (depth === 0) outline += shown(part, groups)
    if (part === '(') depth += 1
  }
  return outline
}

function shown(part: string, { comment, quoted }: Readonly<Record<string, string | undefined>>): string {
  if (comment !== undefined) return ' '
  return quoted === undefined ? part : ' q '
}
