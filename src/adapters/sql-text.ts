/** How a database writes what is not a word. Each has quotes and comments of its own. */
export interface Spelling {
  /** The marks that open a quoted text or name. A bracket is closed by the other one, every other mark by itself. */
  readonly quotes: string
  /** What is read as a blank though it is beyond ASCII, where everything else is a letter. Absent: nothing is. */
  readonly wideBlanks?: RegExp
  /** A backslash takes the next character with it: between all marks, or apostrophes only, or in E'...' only. */
  readonly backslashes?: 'everywhere' | 'in apostrophes' | 'after E' | 'nowhere'
  readonly hasDollarQuotes?: true
  readonly hasHashComments?: true
  /** Two dashes begin a comment only in front of a blank, or of a character for control. */
  readonly dashesNeedBlank?: true
  /** A carriage return ends the comment of a line as well. */
  readonly endsLinesAtReturn?: true
  readonly nestsComments?: true
  /** Whether what stands in a comment is run that begins in this way, with an exclamation mark. Absent: never. */
  readonly runsComments?: (beginning: string) => boolean
  /** Whether such a comment that is not run may have one more inside of it: what one server says, and another. */
  readonly nestsSkipped?: readonly ((beginning: string) => boolean)[]
  /** The statements that have others inside, each with a semicolon, from the words `from` to an END. */
  readonly nests?: { readonly of: RegExp; readonly from: RegExp }
}

/** Enough to tell what a statement is. */
const WORDS = 8
/** Of these all of it counts: each assignment, and each function. */
const readToTheEnd = /^(?:set|do)$/

/**
 * The statements of a text, at most so many: the words that each starts with, in lower case and with one blank between
 * two. Comments are left out, a quoted text is `''`, and a quoted name stands between `"`.
 */
export function statementsOf(sql: string, spelling: Spelling, most: number = Infinity): readonly string[] {
  const tokens = new Tokens(sql, spelling)
  const { nests } = spelling
  const statements: string[] = []
  let words: string[] = []
  let before = ';'
  let isInside = false
  let depth = 0
  const end = (): void => {
    if (words.length > 0) statements.push(words.join(' '))
    words = []
    depth = 0
  }
  while (statements.length < most) {
    const token = tokens.next()
    if (token === undefined) break
    if (isInside) {
      if (token === 'end' && before === ';') isInside = false
      before = token
    } else if (token === ';') {
      end()
    } else {
      depth += token === '(' ? 1 : token === ')' ? -1 : 0
      // what stands in brackets is a parameter, with a name and a type that may be called so
      isInside =
        depth === 0 && nests?.from.test(`${before} ${token}`) === true && nests.of.test(words.join(' '))
      if (isTelling(words, token, depth)) words.push(token)
      before = isInside ? ';' : token
    }
  }
  if (statements.length < most) end()
  return statements
}

/** Whether a word is one of those that tell what a statement does. `depth` is the number of brackets around it. */
function isTelling([first, ...others]: readonly string[], word: string, depth: number): boolean {
  // the brackets around a query say nothing
  if (first === undefined) return word !== '('
  if (!readToTheEnd.test(first)) return others.length < WORDS - 1
  // what stands in brackets is no variable that is set
  return first !== 'set' || depth === 0
}

/** All words of a text, as {@link statementsOf} gives them, with the semicolons. */
export function wordsOf(sql: string, spelling: Spelling): string {
  const tokens = new Tokens(sql, spelling)
  const words: string[] = []
  for (let token = tokens.next(); token !== undefined; token = tokens.next()) words.push(token)
  return words.join(' ')
}

/** What a text is made of, as it is written there, without blanks and comments. */
export function* tokensOf(sql: string, spelling: Spelling): Generator<string> {
  const tokens = new Tokens(sql, spelling)
  while (tokens.next() !== undefined) yield tokens.written
}

/** In a pattern: what a word is made of. `\w` and `\b` know no letters but those of ASCII, and `\s` takes some for blanks. */
export const letter: string = String.raw`[\w$\x80-\uffff]`

// what is no blank of the server among these, it refuses
const blanks = /[\0-\x20]+/y
// older servers read `1a` as a number and a name, and `a$$` is a name
const word = new RegExp(String.raw`\d+|\$\d+|${letter}+`, 'y')
const controls = /[\0-\x20\x7f]/
const dollarMark = /\$(?:[a-z_\x80-\uffff][\w\x80-\uffff]*)?\$/iy
const runMark = /\/\*M?!(?:\d{5,6})?/y

/** The beginnings of comments that may be run, each once. */
export function runMarksIn(sql: string): readonly string[] {
  return [...new Set(sql.match(new RegExp(runMark, 'g')))]
}

/** What stands between the parts of one string: with no line's end in it, the server refuses them. */
const goesOn = /(?:\s|--[^\n\r]*[\n\r])*'/y

const commentMark = /\/\*|\*\//g
const escape = /\\[^]|['"]/g

/** What a text is made of. Whatever is left open lasts to the end of the text, as the database's own reader has it. */
class Tokens {
  readonly #sql: string
  readonly #spelling: Spelling
  #at = 0
  /** Where the last one begins. */
  #start = 0
  /** Within comments that are run. */
  #isRun = false

  constructor(sql: string, spelling: Spelling) {
    this.#sql = spelling.wideBlanks === undefined ? sql : sql.replaceAll(spelling.wideBlanks, ' ')
    this.#spelling = spelling
  }

  /** The last one, with its quotes and in its own case. */
  get written(): string {
    return this.#sql.slice(this.#start, this.#at)
  }

  next(): string | undefined {
    while (this.#match(blanks) !== undefined || this.#skipComment()) continue
    this.#start = this.#at
    const mark = this.#sql[this.#at]
    if (mark === undefined) return undefined
    const { quotes, backslashes, hasDollarQuotes } = this.#spelling
    if (quotes.includes(mark)) {
      const escapes = backslashes === 'everywhere' || (backslashes === 'in apostrophes' && mark === "'")
      return this.#quoted(mark, escapes)
    }
    const dollars = mark === '$' && hasDollarQuotes === true ? this.#match(dollarMark) : undefined
    if (dollars !== undefined) {
      this.#skipTo(dollars)
      return "''"
    }
    const found = this.#match(word)?.toLowerCase()
    if (found === 'e' && backslashes === 'after E' && this.#sql[this.#at] === "'") return this.#escaped()
    if (found === undefined) this.#at += 1
    return found ?? mark
  }

  /** An E string, with what goes on behind the end of a line: there the E holds too. */
  #escaped(): string {
    this.#quoted("'", true)
    while (this.#match(goesOn) !== undefined) {
      this.#at -= 1
      this.#quoted("'", true)
    }
    return "''"
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#sql)?.[0]
    this.#at += found?.length ?? 0
    return found
  }

  /** Goes behind the next place where `mark` stands. */
  #skipTo(mark: string): void {
    const place = this.#sql.indexOf(mark, this.#at)
    this.#at = place < 0 ? this.#sql.length : place + mark.length
  }

  #quoted(mark: string, escapes: boolean): string {
    const start = this.#at + 1
    const close = mark === '[' ? ']' : mark
    // two of them stand for one
    do {
      this.#at += 1
      if (escapes && close !== '`') this.#skipEscaped(close)
      else this.#skipTo(close)
    } while (this.#sql[this.#at] === close)
    const content = mark === "'" ? '' : this.#sql.slice(start, this.#at - 1)
    return /^\w+$/.test(content) ? `"${content.toLowerCase()}"` : "''"
  }

  #skipEscaped(close: string): void {
    escape.lastIndex = this.#at
    let found = escape.exec(this.#sql)
    while (found !== null && found[0] !== close) found = escape.exec(this.#sql)
    this.#at = found === null ? this.#sql.length : escape.lastIndex
  }

  #skipComment(): boolean {
    const pair = this.#sql.slice(this.#at, this.#at + 2)
    if (pair === '*/' && this.#isRun) {
      this.#at += 2
      this.#isRun = false
      return true
    }
    if (pair !== '/*') return this.#skipLine(pair)
    const { runsComments, nestsSkipped, nestsComments } = this.#spelling
    const mark = runsComments === undefined ? undefined : this.#match(runMark)
    if (mark !== undefined && runsComments?.(mark) === true) return (this.#isRun = true)
    if (mark === undefined) this.#at += 2
    if (nestsComments === true) this.#skipNested(Infinity)
    else if (mark !== undefined && nestsSkipped?.[0]?.(mark) === true) this.#skipNested(2)
    else this.#skipTo('*/')
    return true
  }

  #skipLine(pair: string): boolean {
    const { hasHashComments, dashesNeedBlank, endsLinesAtReturn } = this.#spelling
    const isLine =
      pair === '--' && (dashesNeedBlank !== true || controls.test(this.#sql[this.#at + 2] ?? ' '))
    if (!isLine && !(hasHashComments === true && pair.startsWith('#'))) return false
    const rest = this.#sql.slice(this.#at).search(endsLinesAtReturn === true ? /[\n\r]/ : /\n/)
    this.#at = rest < 0 ? this.#sql.length : this.#at + rest
    return true
  }

  #skipNested(deepest: number): void {
    commentMark.lastIndex = this.#at
    let depth = 1
    while (depth > 0) {
      const found = commentMark.exec(this.#sql)
      if (found === null) break
      depth = found[0] === '/*' ? Math.min(depth + 1, deepest) : depth - 1
    }
    this.#at = depth > 0 ? this.#sql.length : commentMark.lastIndex
  }
}
