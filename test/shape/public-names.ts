import { readFile } from 'node:fs/promises'

import { isNode, nodesOf, readSource, type Source, type SyntaxNode } from './source.ts'

/** A name that users can import. */
export interface PublicName {
  readonly name: string
  readonly isType: boolean
}

/** The reviewed list. */
export const namesFile: URL = new URL('../public-names.txt', import.meta.url)

/** The ways into the library and the file behind each: `holdfast/pg` and `src/entries/pg.ts`. */
export async function entryPoints(): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8')
  const { name, exports } = JSON.parse(text) as {
    name: string
    exports: Record<string, string | { default: string }>
  }
  const entries = Object.entries(exports).flatMap(([path, target]): [string, string][] => {
    if (typeof target === 'string') return []
    const source = target.default.replace(/^\.\/dist\//, 'src/').replace(/\.js$/, '.ts')
    return [[name + path.slice(1), source]]
  })
  return new Map(entries)
}

/** The whole list as text: `holdfast emit`, `holdfast type Plan`, one per line. */
export async function listPublicNames(): Promise<string> {
  const entries = await entryPoints()
  const lines = await Promise.all(
    [...entries].map(async ([entry, path]) =>
      exportsOf(await readSource(path)).map(({ name, isType }) => `${entry} ${isType ? 'type ' : ''}${name}`),
    ),
  )
  return `${lines.flatMap((names) => names.toSorted()).join('\n')}\n`
}

/** All names that a file exports. Throws on `export *` and `export default`: public names are written one by one. */
export function exportsOf(source: Source): readonly PublicName[] {
  return nodesOf(source).flatMap((node) => {
    if (node.type === 'ExportAllDeclaration' || node.type === 'ExportDefaultDeclaration') {
      throw new Error(`${source.path} has an export without a name of its own: write public names one by one`)
    }
    return node.type === 'ExportNamedDeclaration'
      ? [...specifiersOf(node), ...declaredBy(node.declaration)]
      : []
  })
}

function specifiersOf({ specifiers, exportKind }: SyntaxNode): readonly PublicName[] {
  return nodesIn(specifiers).map((specifier) => ({
    name: nameOf(specifier.exported),
    isType: exportKind === 'type' || specifier.exportKind === 'type',
  }))
}

function declaredBy(declaration: unknown): readonly PublicName[] {
  if (!isNode(declaration)) return []
  const isType =
    declaration.type === 'TSInterfaceDeclaration' || declaration.type === 'TSTypeAliasDeclaration'
  const named = declaration.type === 'VariableDeclaration' ? nodesIn(declaration.declarations) : [declaration]
  return named.map(({ id }) => ({ name: nameOf(id), isType }))
}

function nodesIn(value: unknown): readonly SyntaxNode[] {
  return Array.isArray(value) ? value.filter(isNode) : []
}

function nameOf(node: unknown): string {
  if (isNode(node) && typeof node.name === 'string') return node.name
  throw new Error('an export has no plain name')
}
