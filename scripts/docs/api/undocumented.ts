import { layout, type Layout } from './layout.ts'
import { shownMembers } from './members.ts'
import type { PublicThing } from './public-api.ts'
import { commentOf, nameOf } from './source-file.ts'

/**
 * Public names, calls, options and results without a doc comment, as `src/locks.ts: LocksOptions.dialect`.
 *
 * What an adapter needs of a driver, and what a dialect consists of, is explained by its types as a whole.
 */
export async function undocumented(): Promise<readonly string[]> {
  const { onPart, isPublic } = await layout()
  const found = [...onPart].flatMap(([part, entries]) =>
    entries
      .flatMap((entry) => entry.things)
      .flatMap((thing) =>
        [
          ...(thing.comment.says === '' ? [thing.name] : []),
          ...(part === 'calls' || part === 'options' || isOptions(thing)
            ? silentMembers(thing, isPublic)
            : []),
        ].map((name) => `${thing.file}: ${name}`),
      ),
  )
  return found.toSorted()
}

function isOptions({ name }: PublicThing): boolean {
  return name.endsWith('Options')
}

function silentMembers(thing: PublicThing, isPublic: Layout['isPublic']): readonly string[] {
  return shownMembers(thing, isPublic)
    .filter(({ file, member }) => commentOf(file, member).says === '')
    .map(({ member }) => `${thing.name}.${nameOf(member.key) ?? ''}`)
}
