import { allExportsOf, entryPoints } from '../../../test/shape/public-names.ts'
import { declarationOf, nameOf, type Declaration, type Node } from './source-file.ts'

/** Something public: what it is, and everywhere it can be imported from. */
export interface PublicThing extends Declaration {
  /** As in `holdfast/pg`, in the order of package.json. */
  readonly entries: readonly string[]
}

/** All that users can import, each thing once, in the order in which the entries name it. */
export async function publicThings(): Promise<readonly PublicThing[]> {
  const found = new Map<string, PublicThing>()
  for (const [entry, file] of await entryPoints()) {
    const names = (await allExportsOf(file)).map(({ name }) => name)
    for (const name of names.toSorted()) {
      const declared = declarationOf(file, name)
      if (declared === undefined) throw new Error(`${entry} exports ${name}, which no file here declares`)
      const id = idOf(declared)
      found.set(id, { ...declared, name, entries: [...(found.get(id)?.entries ?? []), entry] })
    }
  }
  return [...found.values()]
}

export function idOf({ file, node }: Declaration): string {
  return `${file}:${node.start}`
}

/** The names of types that a piece of syntax mentions, in their order. */
export function typesIn(node: unknown): readonly string[] {
  const found: string[] = []
  visit(node, (piece) => {
    if (piece.type === 'TSTypeReference') found.push(nameOf(piece.typeName) ?? '')
    if (piece.type === 'TSInterfaceHeritage' || piece.type === 'TSClassImplements')
      found.push(nameOf(piece.expression) ?? '')
    if (piece.type === 'ClassDeclaration') found.push(nameOf(piece.superClass) ?? '')
  })
  return [...new Set(found.filter((name) => name !== ''))]
}

function visit(value: unknown, see: (node: Node) => void): void {
  if (typeof value !== 'object' || value === null) return
  if ('type' in value && typeof value.type === 'string') {
    // what a function does is not part of what it is
    if (value.type === 'BlockStatement') return
    see(value as Node)
  }
  for (const inner of Object.values(value)) visit(inner, see)
}

/** What stands behind `extends`: the declaration where it is plain, otherwise the words. */
export interface Base {
  readonly node: Node
  readonly declared: Declaration | undefined
}

/** The interfaces that one extends. `Omit<X, 'y'>` and the like have no declaration of their own. */
export function basesOf({ file, node }: Declaration): readonly Base[] {
  const bases = (node.extends ?? []) as readonly Node[]
  return bases.map((base) => {
    const name = nameOf(base.expression) ?? ''
    return { node: base, declared: declarationOf(file, name) }
  })
}

/** The members that an interface or a class declares itself. */
export function membersOf({ node }: Declaration): readonly Node[] {
  const body = node.body as { readonly body?: readonly Node[] } | readonly Node[] | null | undefined
  const all = (body as { readonly body?: readonly Node[] } | undefined)?.body ?? []
  const isKept = ({ type, computed, key, override, accessibility }: Node): boolean =>
    !(computed === true || accessibility === 'private' || override === true) &&
    type !== 'StaticBlock' &&
    (key as Node | undefined)?.type !== 'PrivateIdentifier'
  return node.type === 'TSInterfaceDeclaration' || node.type === 'ClassDeclaration' ? all.filter(isKept) : []
}

/** Everything that can be reached from a thing by the types it mentions, itself first. */
export function reachableFrom(start: PublicThing, things: readonly PublicThing[]): readonly PublicThing[] {
  const byId = new Map(things.map((thing) => [idOf(thing), thing]))
  const found = new Map<string, Declaration>()
  const pending: Declaration[] = [start]
  for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
    if (found.has(idOf(next))) continue
    found.set(idOf(next), next)
    const { file } = next
    pending.push(...typesIn(next.node).flatMap((name) => declarationOf(file, name) ?? []))
  }
  return things.filter((thing) => found.has(idOf(thing)) && byId.has(idOf(thing)))
}
