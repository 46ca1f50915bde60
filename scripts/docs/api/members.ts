import { basesOf, membersOf, typesIn } from './public-api.ts'
import { declarationOf, nameOf, type Declaration, type Node } from './source-file.ts'

/** A member, and the file that declares it. */
export interface Member {
  readonly file: string
  readonly member: Node
}

/**
 * The members that a reader has to be shown with a thing: its own, and those of interfaces that it is made of and that
 * have no place in the reference themselves.
 */
export function shownMembers(
  declared: Declaration,
  isPublic: (one: Declaration) => boolean,
): readonly Member[] {
  const isHidden = (one: Declaration | undefined): one is Declaration =>
    one?.node.type === 'TSInterfaceDeclaration' && !isPublic(one)
  const isShown = ({ type, key }: Node): boolean =>
    !(type === 'MethodDefinition' && nameOf(key) === 'constructor') && key !== undefined
  const own = membersOf(declared)
    .filter(isShown)
    .map((member) => ({ file: declared.file, member }))
  return [
    ...own,
    ...madeOf(declared)
      .filter(isHidden)
      .flatMap((part) => shownMembers(part, isPublic)),
  ]
}

/** The interfaces that one extends; those that options are put together from. */
function madeOf(declared: Declaration): readonly (Declaration | undefined)[] {
  const { file, name, node } = declared
  if (node.type !== 'TSTypeAliasDeclaration') return basesOf(declared).map((base) => base.declared)
  return name.endsWith('Options') ? typesIn(node).map((one) => declarationOf(file, one)) : []
}
