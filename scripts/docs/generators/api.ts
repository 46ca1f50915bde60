import { allExportsOf } from '../../../test/shape/public-names.ts'
import { code } from '../markdown.ts'
import { noArguments, type Generator } from '../place.ts'
import { linkerOn } from '../api/anchors.ts'
import { layout, parts, type Entry, type Part } from '../api/layout.ts'
import type { PublicThing } from '../api/public-api.ts'
import { entryText } from '../api/render.ts'

/** The reference of one part of what is public; with `names` the index of all of it. */
export const api: Generator = async ([part = '', ...rest], { page }) => {
  noArguments(rest)
  if (part === 'names') return names(page)
  if (!Object.hasOwn(parts, part))
    throw new Error(`${part} is none of names, ${Object.keys(parts).join(', ')}`)
  const all = await layout()
  const writing = { layout: all, linker: linkerOn(page, all) }
  const entries = all.onPart.get(part as Part) ?? []
  const texts = entries.map((entry, at) => {
    const head = part === 'adapters' ? headOf(entry, entries[at - 1]) : undefined
    return [...(head === undefined ? [] : [`## ${head}`]), entryText(entry, writing)].join('\n\n')
  })
  return texts.join('\n\n')
}

/** Above what several adapters have, and above what is one's own. */
function headOf(entry: Entry, before: Entry | undefined): string | undefined {
  const head = ownerOf(entry) ?? 'In several entries'
  return before !== undefined && (ownerOf(before) ?? 'In several entries') === head ? undefined : head
}

function ownerOf({ things }: Entry): string | undefined {
  const owners = new Set(things.flatMap((thing) => thing.entries))
  return owners.size === 1 ? [...owners][0] : undefined
}

/** Each entry, and all that it exports, with links to where that is described. */
async function names(page: string): Promise<string> {
  const all = await layout()
  const { to } = linkerOn(page, all)
  const entries = [...new Set(all.things.flatMap((thing) => thing.entries))]
  const shared = new Set((await allExportsOf('src/result-types.ts')).map(({ name }) => name))
  const isShared = (thing: PublicThing): boolean =>
    shared.has(thing.name) && thing.entries.includes('holdfast')
  const sections = entries.map((entry) => {
    const here = all.things.filter((thing) => thing.entries.includes(entry))
    const isPassedOn = entry.includes('/') && here.some(isShared)
    const links = here.filter((thing) => !(isPassedOn && isShared(thing))).map(to)
    const rest = isPassedOn ? '; and [the types of what every call takes and gives](#in-every-entry)' : ''
    return `### ${code(entry)}\n\n${links.join(', ')}${rest}`
  })
  const everywhere = all.things.filter(isShared).map(to)
  return [...sections, `### In every entry\n\n${everywhere.join(', ')}`].join('\n\n')
}
