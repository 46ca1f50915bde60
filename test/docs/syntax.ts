import { parseSync, type Comment, type ParseResult } from 'oxc-parser'

/** A piece of a program's syntax: where it begins and ends in the text. */
export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

export interface Syntax {
  readonly source: string
  readonly comments: readonly Comment[]
  /** Every statement, at every depth, outer ones first. Blocks are not counted. */
  readonly statements: readonly SyntaxNode[]
  /** Where a module is named, with the quotes. */
  readonly moduleNames: readonly { readonly name: string; readonly start: number; readonly end: number }[]
}

export function syntaxOf(source: string): Syntax {
  const result = parse(source)
  const statements: SyntaxNode[] = []
  visit(result.program, (node) => {
    if (/(?:Statement|Declaration)$/.test(node.type) && node.type !== 'BlockStatement') statements.push(node)
  })
  return { source, comments: result.comments, statements, moduleNames: moduleNamesIn(result, source) }
}

/** The modules that a program names, also in `import()` and in types. Of text that is no program: none. */
export function importsIn(source: string): readonly string[] {
  const result = parseSync('fence.ts', source, { lang: 'ts', sourceType: 'module' })
  return moduleNamesIn(result, source).map(({ name }) => name)
}

/** Whether the text is one whole expression. */
export function isExpression(text: string): boolean {
  const { errors } = parseSync('value.ts', `(${text}\n)`, { lang: 'ts', sourceType: 'module' })
  return text.trim() !== '' && errors.length === 0
}

export function lineAt(source: string, offset: number): number {
  return source.slice(0, offset).split('\n').length
}

function parse(source: string): ParseResult {
  const result = parseSync('fence.ts', source, { lang: 'ts', sourceType: 'module' })
  const [error] = result.errors
  if (error === undefined) return result
  const line = lineAt(source, error.labels[0]?.start ?? 0)
  throw new SyntaxError(`line ${line} of the block: ${error.message}`)
}

function moduleNamesIn({ module }: ParseResult, source: string): Syntax['moduleNames'] {
  const requests = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest),
    ...module.staticExports.flatMap(({ entries }) => entries.flatMap((entry) => entry.moduleRequest ?? [])),
    ...module.dynamicImports.map(({ moduleRequest }) => moduleRequest),
  ]
  return requests.flatMap(({ start, end }) => {
    const [, name] = /^['"](.*)['"]$/.exec(source.slice(start, end)) ?? []
    return name === undefined ? [] : [{ name, start, end }]
  })
}

function visit(value: unknown, see: (node: SyntaxNode) => void): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) for (const item of value) visit(item, see)
  else {
    if (isNode(value)) see(value)
    for (const field of Object.values(value)) visit(field, see)
  }
}

function isNode(value: object): value is SyntaxNode {
  return 'type' in value && typeof value.type === 'string' && 'start' in value
}
