import { posix } from 'node:path'

import { code } from '../markdown.ts'
import { parts, type Layout, type Part } from './layout.ts'
import { idOf, membersOf, type PublicThing } from './public-api.ts'
import { declarationOf, nameOf } from './source-file.ts'

/** Where a thing is described. */
export interface Anchor {
  readonly page: string
  readonly anchor: string
}

/** The headings of a part, in their order: those of things, and those of calls. */
function headingsOf({ onPart, isCalls }: Layout, part: Part): readonly string[] {
  return (onPart.get(part) ?? []).flatMap(({ name, things }) => [
    name,
    ...things.filter(isCalls).flatMap((thing) => membersOf(thing).map((member) => nameOf(member.key) ?? '')),
  ])
}

/** As editors, GitHub and the site make an address of a heading: a second one of the same letters gets a number. */
function slugsOf(headings: readonly string[]): ReadonlyMap<string, string> {
  const seen = new Map<string, number>()
  const slugs = headings.map((heading): [string, string] => {
    const slug = heading.toLowerCase()
    const times = seen.get(slug) ?? 0
    seen.set(slug, times + 1)
    return [heading, times === 0 ? slug : `${slug}-${times}`]
  })
  return new Map(slugs)
}

/** The place of everything public, by its declaration. */
function anchorsOf(layout: Layout): ReadonlyMap<string, Anchor> {
  const all = (Object.keys(parts) as Part[]).flatMap((part) => {
    const slugs = slugsOf(headingsOf(layout, part))
    return (layout.onPart.get(part) ?? []).flatMap(({ name, things }) =>
      things.map((thing): [string, Anchor] => [
        idOf(thing),
        { page: parts[part], anchor: slugs.get(name) ?? '' },
      ]),
    )
  })
  return new Map(all)
}

/** Writes names as links, from one page. */
export interface Linker {
  /** A link where the name that a file uses is public, otherwise the name alone. */
  readonly linked: (file: string, name: string) => string
  /** The same, and nothing where it is not public. */
  readonly publicLink: (file: string, name: string) => string | undefined
  readonly to: (thing: PublicThing) => string
}

export function linkerOn(page: string, layout: Layout): Linker {
  const anchors = anchorsOf(layout)
  const link = (name: string, { page: there, anchor }: Anchor): string => {
    const path = there === page ? '' : posix.relative(posix.dirname(page), there)
    return `[${code(name)}](${path}#${anchor})`
  }
  const publicLink = (file: string, name: string): string | undefined => {
    // a comment may name what its file has no need to import
    const named = layout.things.find((thing) => thing.name === name && thing.entries[0] === 'holdfast')
    const declared = declarationOf(file, name) ?? named
    const anchor = declared && anchors.get(idOf(declared))
    return anchor && link(name, anchor)
  }
  return {
    publicLink,
    linked: (file, name) => publicLink(file, name) ?? code(name),
    to: (thing) => link(thing.name, anchors.get(idOf(thing)) ?? { page, anchor: '' }),
  }
}
