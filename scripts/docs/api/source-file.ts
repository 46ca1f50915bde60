import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { parseSync } from 'oxc-parser'

import { project } from '../place.ts'
import { commentAbove, type Comment } from './comment.ts'

/** A piece of a file's syntax, and where it stands in the text. */
export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

/** Something that a file declares at its outermost level. */
export interface Declaration {
  readonly file: string
  readonly name: string
  /** The declaration itself: a function, a class, an interface, an alias, or one declarator of a `const`. */
  readonly node: Node
  /** The other forms of a function that has several. */
  readonly overloads: readonly Node[]
  readonly comment: Comment
}

interface SourceFile {
  readonly path: string
  readonly text: string
  readonly body: readonly Node[]
  readonly comments: readonly { readonly value: string; readonly start: number; readonly end: number }[]
}

const read = new Map<string, SourceFile>()

function sourceFile(path: string): SourceFile {
  const known = read.get(path)
  if (known !== undefined) return known
  const text = readFileSync(new URL(path, project), 'utf8')
  const { program, comments, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path} cannot be read: ${errors[0]?.message}`)
  const file = { path, text, body: program.body as unknown as readonly Node[], comments }
  read.set(path, file)
  return file
}

/** The text of a piece of syntax, on one line where it is not to keep its own. */
export function textOf(path: string, { start, end }: Pick<Node, 'start' | 'end'>): string {
  return sourceFile(path).text.slice(start, end)
}

/** What stands right above a piece of syntax. */
export function commentOf(path: string, { start }: Pick<Node, 'start'>): Comment {
  const { text, comments } = sourceFile(path)
  const above = comments.findLast(({ end }) => end <= start && text.slice(end, start).trim() === '')
  return commentAbove(above?.value ?? '')
}

/** The declaration behind a name that a file declares, imports or passes on. Undefined for what is not of this project. */
export function declarationOf(path: string, name: string): Declaration | undefined {
  const { body } = sourceFile(path)
  const own = body.flatMap((statement) => {
    const node = declaredBy(statement, name)
    return node === undefined ? [] : [{ node, statement }]
  })
  if (own[0] !== undefined) {
    const overloads = own.slice(1).flatMap(({ node }) => (node.type === 'TSDeclareFunction' ? [node] : []))
    return { file: path, name, node: own[0].node, overloads, comment: commentOf(path, own[0].statement) }
  }
  for (const statement of body) {
    const found = specifierOf(statement, name)
    if (found === undefined) continue
    const from = sourceOf(statement)
    if (from === undefined) return declarationOf(path, found)
    return from.startsWith('.') ? declarationOf(posix.join(posix.dirname(path), from), found) : undefined
  }
  const passedOn = body.filter(({ type }) => type === 'ExportAllDeclaration').map(sourceOf)
  return passedOn
    .map((from = '') => declarationOf(posix.join(posix.dirname(path), from), name))
    .find((found) => found !== undefined)
}

function sourceOf({ source }: Node): string | undefined {
  return (source as { readonly value?: string } | null)?.value
}

function declaredBy(statement: Node, name: string): Node | undefined {
  const exported = statement.type === 'ExportNamedDeclaration' ? (statement.declaration as Node | null) : null
  const declared = exported ?? statement
  const all =
    declared.type === 'VariableDeclaration' ? (declared.declarations as readonly Node[]) : [declared]
  return all.find((node) => nameOf(node.id) === name)
}

/** What the other file, or this one, calls it. */
function specifierOf({ type, specifiers }: Node, name: string): string | undefined {
  if (type !== 'ExportNamedDeclaration' && type !== 'ImportDeclaration') return undefined
  const [here, there] = type === 'ImportDeclaration' ? ['local', 'imported'] : ['exported', 'local']
  const found = (specifiers as readonly Node[]).find((one) => nameOf(one[here]) === name)
  return found && nameOf(found[there])
}

export function nameOf(node: unknown): string | undefined {
  return (node as { readonly name?: string } | null | undefined)?.name
}
