/** What one statement locks, as far as its text tells. */
export interface SqlLock {
  readonly table: string
  readonly mode: 'shared' | 'exclusive'
  /** Whether it waits while another has the lock. */
  readonly waits: boolean
  /** Which row, where the text names one: `id=7`, by the column `id`. */
  readonly row: { readonly which: string; readonly by: string } | undefined
}

/** Comments and blanks; then literals, quoted names, placeholders and words; then any other character. */
const token =
  /(?<blank>\s+|--[^\n]*|\/\*[^]*?\*\/)|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|\$\d+|[@:][\p{L}_][\p{L}\p{N}_$]*|[\p{L}\p{N}_$]+(?:\.\d+)?|::|[^]/gu

function tokensOf(sql: string): readonly string[] {
  return Array.from(sql.matchAll(token), ({ 0: part, groups }) =>
    groups?.blank === undefined ? part : '',
  ).filter((part) => part !== '')
}

/** A text that is longer is not read. */
const longest = 20_000

/**
 * Reads statements of the common shapes. Of what it does not know it says nothing: a lock that is not seen is a warning
 * that does not come, and a lock that is made up would be one that is wrong. An INSERT locks only what nobody else has,
 * unless it also updates.
 */
export function sqlLockOf(sql: string, params: unknown): SqlLock | undefined {
  if (sql.length > longest) return undefined
  const tokens = tokensOf(sql)
  const words = tokens.map((part) => part.toLowerCase())
  const lock = lockIn(tokens, words)
  return lock && { ...lock, row: rowIn(tokens, words, params) }
}

type Found = Omit<SqlLock, 'row'>

function lockIn(tokens: readonly string[], words: readonly string[]): Found | undefined {
  return readers.get(words[0] ?? '')?.(tokens, words)
}

type Reader = (tokens: readonly string[], words: readonly string[]) => Found | undefined

/** By the word that a statement starts with. */
const readers: ReadonlyMap<string, Reader> = new Map(
  Object.entries<Reader>({
    update: (tokens, words) => writeOf(tokens, words, behindManner(words, 1)),
    delete: (tokens, words) => writeOf(tokens, words, behindManner(words, words.indexOf('from') + 1)),
    insert: (tokens, words) =>
      upserts(words) ? writeOf(tokens, words, words.indexOf('into') + 1) : undefined,
    replace: (tokens, words) => writeOf(tokens, words, words[1] === 'into' ? 2 : 1),
    select: (tokens, words) => readOf(tokens, words),
  }),
)

/** What may stand in front of a table that is written. */
const manners = new Set(['only', 'ignore', 'low_priority'])

function behindManner(words: readonly string[], at: number): number {
  let place = at
  while (manners.has(words[place] ?? '')) place += 1
  return words[place] === 'or' ? place + 2 : place
}

function upserts(words: readonly string[]): boolean {
  const text = words.join(' ')
  return / on duplicate key update /.test(text) || / on conflict .*do update /.test(text)
}

function writeOf(tokens: readonly string[], words: readonly string[], at: number): Found | undefined {
  const table = at > 0 ? tableAt(tokens, words, at) : undefined
  return table === undefined ? undefined : { table, mode: 'exclusive', waits: true }
}

const locking = /^(?:for (?:no key )?update|for (?:key )?share|lock in share mode)(?: |$)/

/** The words that lock stand at the end of the outermost query. */
function readOf(tokens: readonly string[], words: readonly string[]): Found | undefined {
  const from = topLevel(words, 'from')
  const clause = clauseOf(words)
  if (from < 0 || clause === undefined) return undefined
  const table = tableAt(tokens, words, from + 1)
  // `of` names one of several tables, which may be another one
  if (table === undefined || (/ of /.test(clause) && hasOthers(words))) return undefined
  const mode = /update/.test(clause) ? 'exclusive' : 'shared'
  return { table, mode, waits: !/ (?:nowait|skip locked)(?: |$)/.test(clause) }
}

function clauseOf(words: readonly string[]): string | undefined {
  let clause: string | undefined
  eachOutside(words, (word, place) => {
    if (word !== 'for' && word !== 'lock') return
    const rest = words.slice(place).join(' ')
    if (locking.test(rest)) clause = rest
  })
  return clause
}

/** Whether a statement names more tables than one: then nobody knows of which its conditions are. */
function hasOthers(words: readonly string[]): boolean {
  const first = words[0] === 'update' ? 'set' : 'where'
  let [isOther, isBehind, froms] = [false, false, 0]
  eachOutside(words, (word) => {
    if (word === 'from') froms += 1
    if (word === 'join' || word === 'using') isOther = true
    if (word === ',' && froms + Number(words[0] === 'update') > 0 && !isBehind) isOther = true
    if (word === first) isBehind = true
  })
  return isOther || (words[0] === 'update' && froms > 0)
}

/** Where a word stands outside of all parentheses; -1 where it does not. */
function topLevel(words: readonly string[], wanted: string): number {
  let found = -1
  eachOutside(words, (word, place) => {
    if (found < 0 && word === wanted) found = place
  })
  return found
}

function eachOutside(words: readonly string[], see: (word: string, place: number) => void): void {
  let depth = 0
  for (const [place, word] of words.entries()) {
    if (word === '(') depth += 1
    else if (word === ')') depth -= 1
    else if (depth === 0) see(word, place)
  }
}

const name = /^(?:["`[\p{L}_])/u

function tableAt(tokens: readonly string[], words: readonly string[], at: number): string | undefined {
  const parts: string[] = []
  for (let place = at; ; place += 2) {
    const part = tokens[place]
    if (part === undefined || !name.test(part)) return undefined
    parts.push(unquoted(part))
    if (words[place + 1] !== '.') return parts.join('.')
  }
}

/** Without regard to case: on some databases a name is the same one in quotes and without. */
function unquoted(part: string): string {
  const bare = /^["`[]/.test(part) ? part.slice(1, -1).replaceAll(/(["`])\1/g, '$1') : part
  return bare.toLowerCase()
}

/** Ends the conditions of a statement. */
const behind = new Set([
  'order',
  'limit',
  'for',
  'lock',
  'returning',
  'group',
  'having',
  'offset',
  'fetch',
  ';',
])

/** The row that `where a = 1 and b = 2` names. Undefined where the conditions are of another shape. */
function rowIn(tokens: readonly string[], words: readonly string[], params: unknown): SqlLock['row'] {
  const where = topLevel(words, 'where')
  // the one of an upsert says what is changed, and not what is locked
  if (where < 0 || words[0] === 'insert' || hasOthers(words)) return undefined
  const end = words.findIndex((word, place) => place > where && behind.has(word))
  const last = end < 0 ? words.length : end
  const found: Condition[] = []
  let before = words.slice(0, where + 1).filter((word) => word === '?').length
  for (let place = where + 1; place < last;) {
    // between conditions that all hold, parentheses change nothing
    while (words[place] === '(') place += 1
    const condition = conditionAt(tokens, place, { params, before })
    if (condition === undefined) return undefined
    if (condition.column !== '') found.push(condition)
    before += condition.marks
    place = condition.end
    while (words[place] === ')') place += 1
    if (place < last && words[place] !== 'and') return undefined
    place += 1
  }
  if (found.length === 0) return undefined
  const sorted = found.toSorted((one, other) => (one.column < other.column ? -1 : 1))
  return {
    which: sorted.map(({ column, text }) => `${column}=${text}`).join(' '),
    by: sorted.map(({ column }) => column).join(' '),
  }
}

interface Values {
  readonly params: unknown
  /** How many question marks stand before it. */
  readonly before: number
}

interface Condition {
  readonly column: string
  readonly text: string
  /** Where the next token is. */
  readonly end: number
  readonly marks: number
}

/**
 * `column = value`, with the table's name in front of the column or not, and a cast behind the value; or the only value
 * of a list; or `1=1`, which has no column.
 */
function conditionAt(tokens: readonly string[], at: number, values: Values): Condition | undefined {
  if (tokens.slice(at, at + 3).join('') === '1=1') return { column: '', text: '', end: at + 3, marks: 0 }
  let place = at
  while (tokens[place + 1] === '.') place += 2
  const [column, sign, ...rest] = tokens.slice(place, place + 6)
  if (column === undefined || !name.test(column)) return undefined
  const isList = sign?.toLowerCase() === 'in' && rest[0] === '(' && rest[2] === ')'
  const value = isList ? rest[1] : sign === '=' ? rest[0] : undefined
  const text = value === undefined ? undefined : valueOf(value, values)
  if (text === undefined) return undefined
  const end = isList || rest[1] === '::' ? place + 5 : place + 3
  return { column: unquoted(column), text, end, marks: value === '?' ? 1 : 0 }
}

function valueOf(value: string, { params, before }: Values): string | undefined {
  if (/^\d/.test(value)) return value
  if (value.startsWith("'")) return value.slice(1, -1).replaceAll("''", "'")
  if (!Array.isArray(params)) return undefined
  const place = value === '?' ? before : /^\$\d+$/.test(value) ? Number(value.slice(1)) - 1 : -1
  const param: unknown = params[place]
  return typeof param === 'string' || typeof param === 'number' || typeof param === 'bigint'
    ? String(param)
    : undefined
}
