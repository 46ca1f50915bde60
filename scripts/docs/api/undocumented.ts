import { layout } from './layout.ts'
import { membersOf, type PublicThing } from './public-api.ts'
import { commentOf, nameOf, type Node } from './source-file.ts'

/**
 * Public names, calls, options and results without a doc comment, as `src/locks.ts: LocksOptions.dialect`.
 *
 * What an adapter needs of a driver, and what a dialect consists of, is explained by its types as a whole.
 */
export async function undocumented(): Promise<readonly string[]> {
  const { onPart } = await layout()
  const found = [...onPart].flatMap(([part, entries]) =>
    entries
      .flatMap(({ things }) => things)
      .flatMap((thing) =>
        [
          ...(thing.comment.says === '' ? [thing.name] : []),
          ...(part === 'calls' || part === 'options' || isOptions(thing) ? silentMembers(thing) : []),
        ].map((name) => `${thing.file}: ${name}`),
      ),
  )
  return found.toSorted()
}

function isOptions({ name }: PublicThing): boolean {
  return name.endsWith('Options')
}

function silentMembers(thing: PublicThing): readonly string[] {
  if (thing.node.type !== 'TSInterfaceDeclaration') return []
  return membersOf(thing)
    .filter((member) => !isSaid(thing, member))
    .map((member) => `${thing.name}.${nameOf(member.key) ?? ''}`)
}

function isSaid({ file }: PublicThing, member: Node): boolean {
  return commentOf(file, member).says !== ''
}
