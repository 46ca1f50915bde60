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

/** How much of a text is read: of a longer one, the beginning and the end say what it locks. */
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
    update: (tokens, words) => writeOf(tokens, words, words[1] === 'only' ? 2 : 1),
    delete: (tokens, words) => {
      const from = words.indexOf('from')
      return writeOf(tokens, words, from < 0 ? -1 : from + (words[from + 1] === 'only' ? 2 : 1))
    },
    insert: (tokens, words) =>
      upserts(words) ? writeOf(tokens, words, words.indexOf('into') + 1) : undefined,
    replace: (tokens, words) => writeOf(tokens, words, words[1] === 'into' ? 2 : 1),
    select: (tokens, words) => readOf(tokens, words),
  }),
)

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
  const at = words.findLastIndex(
    (word, place) => /^(?:for|lock)$/.test(word) && locking.test(words.slice(place).join(' ')),
  )
  if (from < 0 || at < from) return undefined
  const clause = words.slice(at).join(' ')
  // of several tables nobody knows which row was meant
  const table = tableAt(tokens, words, from + 1)
  if (table === undefined) return undefined
  const mode = /update/.test(clause) ? 'exclusive' : 'shared'
  return { table, mode, waits: !/ (?:nowait|skip locked)$/.test(clause) }
}

/** Where a word stands outside of all parentheses; -1 where it does not. */
function topLevel(words: readonly string[], wanted: string): number {
  let depth = 0
  for (const [place, word] of words.entries()) {
    if (word === '(') depth += 1
    else if (word === ')') depth -= 1
    else if (depth === 0 && word === wanted) return place
  }
  return -1
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

function unquoted(part: string): string {
  return /^["`[]/.test(part) ? part.slice(1, -1).replaceAll(/(["`])\1/g, '$1') : part.toLowerCase()
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
  if (where < 0) return undefined
  const end = words.findIndex((word, place) => place > where && behind.has(word))
  const last = end < 0 ? words.length : end
  const found: Condition[] = []
  let before = words.slice(0, where + 1).filter((word) => word === '?').length
  for (let place = where + 1; place < last;) {
    const condition = conditionAt(tokens, place, { params, before })
    if (condition === undefined) return undefined
    found.push(condition)
    before += condition.marks
    place = condition.end
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

/** `column = value`, with the table's name in front of the column or not, and a cast behind the value. */
function conditionAt(tokens: readonly string[], at: number, values: Values): Condition | undefined {
  let place = at
  while (tokens[place + 1] === '.') place += 2
  const [column, sign, value, cast] = tokens.slice(place, place + 4)
  if (column === undefined || !name.test(column) || sign !== '=' || value === undefined) return undefined
  const text = valueOf(value, values)
  if (text === undefined) return undefined
  const end = cast === '::' ? place + 5 : place + 3
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
