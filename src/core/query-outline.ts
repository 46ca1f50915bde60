/**
 * Blanks and comments, then literals and quoted names, then what may be read in two ways, then words, then any other
 * character: as MySQL reads them, which is the least strict. In PostgreSQL `#>` and `#-` are operators.
 *
 * Unsure are a dollar quote, a comment that is run, one that holds another, a `--` that is a comment on some servers
 * only, one that ends at a carriage return on some of them, and a quote that a backslash may have kept open.
 */
const token =
  /(?<blank>\s+|--(?=[\0- ]|$)[^\n\r]*(?=\r?\n|$)|#(?![>-])[^\n\r]*(?=\r?\n|$)|\/\*(?!!|M!)(?:(?!\/\*)[^])*?\*\/)|(?<quoted>'(?:[^'\\]|'')*'|"(?:[^"\\]|"")*"|`[^`]*`)|(?<unsure>\$[\w\x80-\u{10ffff}]*\$|\/\*|--|#(?![>-])|['"`\\])|[\p{L}\p{N}_$@]+|[^]/gu

/** A query without its comments. Each literal and each quoted name is a `q`, and words are lower case. */
export interface QueryOutline {
  /** The outermost level only: `()` in place of whatever stands in parentheses. */
  readonly top: readonly string[]
  /** All but the sub-queries, of which the parentheses are left. */
  readonly own: string
}

/** How the query in the text is made, as far as its text tells. Undefined where it may be read in two ways. */
export function outlineOf(sql: string): QueryOutline | undefined {
  const words = wordsOf(sql)
  const top = words && topOf(words)
  return top && { top, own: ownOf(words) }
}

function wordsOf(sql: string): readonly string[] | undefined {
  const words: string[] = []
  for (const { 0: part, groups = {} } of sql.matchAll(token)) {
    if (groups.blank !== undefined) continue
    if (groups.unsure !== undefined) return undefined
    words.push(groups.quoted === undefined ? part.toLowerCase() : 'q')
  }
  return words
}

/** Undefined where a parenthesis has no other: put into another text, it would close one of that. */
function topOf(words: readonly string[]): readonly string[] | undefined {
  const top: string[] = []
  let depth = 0
  for (const word of words) {
    if (word === ')') depth -= 1
    else if (depth === 0) top.push(word === '(' ? '()' : word)
    if (word === '(') depth += 1
    if (depth < 0) return undefined
  }
  return depth === 0 ? top : undefined
}

const startsQuery = new Set(['select', 'with', 'values', 'table'])

function ownOf(words: readonly string[]): string {
  const own: string[] = []
  /** How deep the sub-query is in which we are. */
  let depth = 0
  for (const [at, word] of words.entries()) {
    if (depth > 0) {
      depth += word === '(' ? 1 : word === ')' ? -1 : 0
      if (depth > 0) continue
    }
    own.push(word)
    if (word === '(' && startsQuery.has(words.slice(at).find((next) => next !== '(') ?? '')) depth = 1
  }
  return own.join(' ')
}

const aggregates =
  /\b(?:any_value|array_agg|avg|bit_(?:and|or|xor)|bool_(?:and|or)|count(?:_big)?|every|group_concat|jsonb?_(?:agg|arrayagg|group_\w+|object_?agg)|max|min|std|stddev(?:_\w+)?|st_collect|string_agg|sum|total|var(?:p|_pop|_samp|iance)?|xmlagg) \(|\bover (?:\(|\w)/

/** Whether an aggregate or a window function is called, in whatever it stands, but not in a sub-query. */
export function hasAggregate({ own }: Pick<QueryOutline, 'own'>): boolean {
  return aggregates.test(own)
}
