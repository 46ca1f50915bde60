/** What ends the list of the tables. */
const behindFrom = new Set([
  'where',
  'group',
  'having',
  'window',
  'qualify',
  'order',
  'limit',
  'offset',
  'fetch',
  'for',
  'into',
  'lock',
  'procedure',
  'option',
])

/** Ahead of a source, and not its name. */
const aheadOfSource = new Set(['lateral', 'only'])

/** What a query reads from, as far as locks go: rows of tables, of a query inside of FROM, or of nothing that has any. */
export interface Sources {
  readonly hasTable: boolean
  readonly hasQuery: boolean
}

/** Reads FROM, of the outermost level of a query. */
export function sourcesIn(top: readonly string[]): Sources {
  const found = { hasTable: false, hasQuery: false }
  // IS DISTINCT FROM is a comparison
  let at = top.findIndex((word, place) => word === 'from' && top[place - 1] !== 'distinct')
  if (at < 0) return found
  for (; at < top.length && !behindFrom.has(top[at] ?? ''); at += 1) {
    if (!comesBeforeSource(top[at] ?? '')) continue
    while (aheadOfSource.has(top[at + 1] ?? '')) at += 1
    const kind = kindOf(top, at + 1)
    if (kind === 'query') found.hasQuery = true
    if (kind === 'table') found.hasTable = true
  }
  return found
}

function comesBeforeSource(word: string): boolean {
  return word === 'from' || word === ',' || word === 'apply' || /^(?:\w+_)?join$/.test(word)
}

/** DUAL has no rows, and neither has a function: a name with parentheses right behind it. */
function kindOf(top: readonly string[], start: number): 'table' | 'query' | 'none' {
  if (top[start] === '()' || top[start] === '{') return 'query'
  let end = start
  while (top[end + 1] === '.') end += 2
  return top[end + 1] === '()' || (top[start] === 'dual' && end === start) ? 'none' : 'table'
}
