import { readFile } from 'node:fs/promises'
import { posix } from 'node:path'

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

/** The whole list as text: `holdfast emit`, `holdfast type Plan`, one per line. An entry's `type *` is listed once, for `holdfast`. */
export async function listPublicNames(): Promise<string> {
  const entries = await entryPoints()
  const lines = await Promise.all(
    [...entries].map(async ([entry, path]) => {
      const names = entry.includes('/') ? exportsOf(await readSource(path)) : await allExportsOf(path)
      return names.map(({ name, isType }) => `${entry} ${isType ? 'type ' : ''}${name}`)
    }),
  )
  return `${lines.flatMap((names) => names.toSorted()).join('\n')}\n`
}

/** The types that several entries pass on by `export type *`, each written there by its name. */
const sharedTypes = 'src/result-types.ts'

/** The same as `exportsOf`, with the names behind `*` in place of it. */
export async function allExportsOf(path: string): Promise<readonly PublicName[]> {
  const own = exportsOf(await readSource(path))
  const isShared = own.some(({ name }) => name === '*')
  return [...own.filter(({ name }) => name !== '*'), ...(isShared ? await allExportsOf(sharedTypes) : [])]
}

/**
 * All names that a file exports: `*` stands for those of `src/result-types.ts`, which `holdfast` lists one by one. Throws
 * on any other `export *` and on `export default`: public names are written one by one.
 */
export function exportsOf(source: Source): readonly PublicName[] {
  return nodesOf(source).flatMap((node) => {
    if (passesTypesOn(node, source)) return [{ name: '*', isType: true }]
    if (node.type === 'ExportAllDeclaration' || node.type === 'ExportDefaultDeclaration') {
      throw new Error(`${source.path} has an export without a name of its own: write public names one by one`)
    }
    return node.type === 'ExportNamedDeclaration'
      ? [...specifiersOf(node), ...declaredBy(node.declaration)]
      : []
  })
}

function passesTypesOn(node: SyntaxNode, { path }: Source): boolean {
  if (node.type !== 'ExportAllDeclaration' || node.exportKind !== 'type' || !isNode(node.source)) return false
  return posix.join(posix.dirname(path), String(node.source.value)) === sharedTypes
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
