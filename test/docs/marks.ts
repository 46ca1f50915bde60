import type { Comment } from 'oxc-parser'

import { isExpression, lineAt, type Syntax, type SyntaxNode } from './syntax.ts'

/** A comment that says what the statement before it gives. Lines count within the block, from one. */
export type Mark = EqualsMark | PrintsMark | ThrowsMark | RefusedMark

interface MarkBase {
  readonly line: number
  readonly statement: SyntaxNode
}

/** `statement // => value` */
export interface EqualsMark extends MarkBase {
  readonly kind: 'equals'
  readonly value: string
}

/** `console.log(...) // => text`, with as many of the comments below as lines are printed. */
export interface PrintsMark extends MarkBase {
  readonly kind: 'prints'
  readonly lines: readonly string[]
}

/** `statement // throws LockTimeoutError: part of the message` */
export interface ThrowsMark extends MarkBase {
  readonly kind: 'throws'
  readonly name: string
  readonly part: string
}

/** `// error TS2345: beginning of the message`, behind or below the line that the compiler refuses. */
export interface RefusedMark extends MarkBase {
  readonly kind: 'refused'
  readonly code: string
  readonly message: string
}

/** All marks of a program. Throws when one of them says nothing that could be checked. */
export function marksOf(syntax: Syntax): readonly Mark[] {
  return syntax.comments.flatMap((comment, index) => {
    const text = comment.type === 'Line' ? comment.value.trim() : ''
    const line = lineAt(syntax.source, comment.start)
    try {
      return markOf(text, { syntax, comment, line, below: textsBelow(syntax, index) }) ?? []
    } catch (error) {
      throw new Error(`line ${line} of the block: ${(error as Error).message}`, { cause: error })
    }
  })
}

interface Place {
  readonly syntax: Syntax
  readonly comment: Comment
  readonly line: number
  /** The comments that fill the lines below. */
  readonly below: readonly string[]
}

function markOf(text: string, place: Place): Mark | undefined {
  const { line, below } = place
  const [, value] = /^=>\s*(.*)$/.exec(text) ?? []
  if (value !== undefined) {
    const statement = statementBefore(place)
    if (isConsoleLog(statement)) return { kind: 'prints', line, statement, lines: [value, ...below] }
    return { kind: 'equals', line, statement, value: wholeValue([value, ...below]) }
  }
  const [, name, part = ''] = /^throws (\w+)(?:: (.*))?$/.exec(text) ?? []
  if (name !== undefined) return { kind: 'throws', line, statement: statementBefore(place), name, part }
  if (/^throws\b/.test(text)) throw new Error('write `// throws NameOfTheClass` or `// throws Name: message`')
  const [, code, message] = /^error (TS\d+): (.+)$/.exec(text) ?? []
  if (code === undefined || message === undefined) return undefined
  const refusedLine = isAlone(place) ? codeLineAbove(place) : line
  return { kind: 'refused', line: refusedLine, statement: statementOn(place, refusedLine), code, message }
}

/** The statement that ends right before the comment; of several that end there, the innermost. */
function statementBefore({ syntax: { statements, source, comments }, comment }: Place): SyntaxNode {
  const before = statements.filter(({ end }) => end <= comment.start)
  const last = Math.max(...before.map(({ end }) => end))
  const found = before.findLast(({ end }) => end === last)
  // what stands between them may only be other comments
  const between = comments.filter(({ start, end }) => start >= last && end <= comment.start)
  const rest = between.reduce(
    (text, { start, end }) => {
      return text.slice(0, start - last) + ' '.repeat(end - start) + text.slice(end - last)
    },
    source.slice(last, comment.start),
  )
  if (found === undefined || rest.trim() !== '' || /\n\s*\n/.test(rest))
    throw new Error('no statement ends right before this comment')
  return found
}

/** The innermost statement that has this line. */
function statementOn({ syntax: { statements, source } }: Place, line: number): SyntaxNode {
  const found = statements.findLast(
    ({ start, end }) => lineAt(source, start) <= line && lineAt(source, end) >= line,
  )
  if (found === undefined) throw new Error('there is no statement that the compiler could refuse')
  return found
}

function isAlone({ syntax: { source }, comment }: Place): boolean {
  return source.slice(source.lastIndexOf('\n', comment.start - 1) + 1, comment.start).trim() === ''
}

function codeLineAbove({ syntax: { source }, line }: Place): number {
  const lines = source.split('\n').slice(0, line - 1)
  return lines.findLastIndex((text) => !/^\s*(?:\/\/.*)?$/.test(text)) + 1
}

function textsBelow({ comments, source }: Syntax, index: number): readonly string[] {
  const texts: string[] = []
  for (const comment of comments.slice(index + 1)) {
    const gap = source.slice(comments[index + texts.length]?.end, comment.start)
    if (comment.type !== 'Line' || !/^\n[^\S\n]*$/.test(gap)) break
    if (/^ (?:=>|throws\b|error TS)/.test(comment.value)) break
    texts.push(comment.value.replace(/^ /, ''))
  }
  return texts
}

/** The value goes on below for as long as it is no whole expression. */
function wholeValue(lines: readonly string[]): string {
  const texts = lines.map((_, index) => lines.slice(0, index + 1).join(' '))
  const whole = texts.find((text) => isExpression(text))
  if (whole === undefined) throw new Error(`what stands behind => is no JavaScript value: ${lines[0]}`)
  return whole
}

function isConsoleLog({ type, expression }: SyntaxNode): boolean {
  if (type !== 'ExpressionStatement') return false
  const { callee } = expression as { callee?: { object?: SyntaxNode; property?: SyntaxNode } }
  return callee?.object?.name === 'console' && callee.property?.name === 'log'
}
