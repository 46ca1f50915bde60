import { marksOf, type Mark } from './marks.ts'
import { root, type Fence } from './page.ts'
import { syntaxOf, type SyntaxNode } from './syntax.ts'

/** A program in which every mark asks the probe. Its lines are those of the page. */
export interface Rewritten {
  readonly code: string
  readonly marks: readonly Mark[]
}

interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Where a program finds the object that its marks ask. */
export const probeName = '__docs'

export function rewrite(fence: Pick<Fence, 'text' | 'line'>): Rewritten {
  const syntax = syntaxOf(fence.text)
  const marks = marksOf(syntax)
  const edits = [
    ...syntax.moduleNames.map(({ name, start, end }) => ({ start, end, text: quote(locate(name)) })),
    ...marks.flatMap((mark, index) => editsOf(mark, { index, source: fence.text })),
  ]
  const probe = `const ${probeName} = globalThis[Symbol.for(${quote(probeName)})];`
  // the ticks of the block stand at `fence.line`, so its first line is the next one, as on the page
  return { marks, code: probe + '\n'.repeat(fence.line) + applied(fence.text, edits) }
}

/** The same lines as on the page, for the compiler. */
export function padded({ text, line }: Pick<Fence, 'text' | 'line'>): string {
  return '\n'.repeat(line) + text
}

function editsOf(mark: Mark, { index, source }: { index: number; source: string }): readonly Edit[] {
  const { statement } = mark
  if (mark.kind === 'refused') return [{ ...span(statement), text: blank(source, statement) }]
  if (mark.kind === 'throws') {
    return around(statement, `await ${probeName}.throws(${index}, async () => {`, '\n})')
  }
  if (mark.kind === 'prints') {
    const { callee } = statement.expression as { callee: SyntaxNode }
    const open = source.indexOf('(', callee.end) + 1
    return [{ start: callee.start, end: open, text: `${probeName}.log(${index}, ` }]
  }
  return around(valueOf(statement), `${probeName}.equals(${index}, (`, `), () => (${mark.value}))`)
}

/** The expression that a statement is about: what it returns, or what its last variable is given. */
function valueOf(statement: SyntaxNode): SyntaxNode {
  const last = (statement.declarations as readonly SyntaxNode[] | undefined)?.at(-1)
  const value = statement.expression ?? statement.argument ?? last?.init
  if (value == null) throw new Error('the statement before => has no value')
  return value as SyntaxNode
}

function around({ start, end }: SyntaxNode, before: string, after: string): readonly Edit[] {
  return [
    { start, end: start, text: before },
    { start: end, end, text: after.trimStart() },
  ]
}

function span({ start, end }: SyntaxNode): Pick<Edit, 'start' | 'end'> {
  return { start, end }
}

/** Nothing, over as many lines. */
function blank(source: string, { start, end }: SyntaxNode): string {
  return `;${source.slice(start, end).replaceAll(/[^\n]/g, '')}`
}

function applied(source: string, edits: readonly Edit[]): string {
  const inOrder = edits.toSorted((a, b) => a.start - b.start || a.end - b.end)
  let at = 0
  let text = ''
  for (const edit of inOrder) {
    if (edit.start < at) continue // inside of what is not run
    text += source.slice(at, edit.start) + edit.text
    at = edit.end
  }
  return text + source.slice(at)
}

/** The library by the names that it has once it is installed, from its sources. */
function locate(name: string): string {
  if (name === 'holdfast') return new URL('src/index.ts', root).pathname
  const [, entry] = /^holdfast\/(.+)$/.exec(name) ?? []
  return entry === undefined ? name : new URL(`src/entries/${entry}.ts`, root).pathname
}

function quote(text: string): string {
  return JSON.stringify(text)
}
