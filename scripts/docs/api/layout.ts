import { adapterEntries } from '../adapter-entries.ts'
import type { Declaration } from './source-file.ts'
import { basesOf, idOf, publicThings, reachableFrom, type PublicThing } from './public-api.ts'

/** The pages of the reference, by what is on them. */
export const parts = {
  calls: 'docs/api/calls.md',
  options: 'docs/api/options.md',
  functions: 'docs/api/functions.md',
  errors: 'docs/api/errors.md',
  adapters: 'docs/api/adapters.md',
  coordinators: 'docs/api/coordinators.md',
  race: 'docs/api/race.md',
  watch: 'docs/api/watch.md',
  testing: 'docs/api/testing.md',
  opentelemetry: 'docs/api/opentelemetry.md',
  conformance: 'docs/api/conformance.md',
  dialects: 'docs/api/dialects.md',
} as const

export type Part = keyof typeof parts

/** Things of one name under one heading: every adapter has a `createLocks` of its own. */
export interface Entry {
  readonly name: string
  readonly things: readonly PublicThing[]
}

export interface Layout {
  readonly things: readonly PublicThing[]
  readonly onPart: ReadonlyMap<Part, readonly Entry[]>
  readonly isPublic: (declared: Declaration) => boolean
  /** The interfaces whose members are the calls of a `locks` object. */
  readonly isCalls: (thing: PublicThing) => boolean
  /** The names of all adapters' entries, as in `holdfast/pg`. */
  readonly adapters: readonly string[]
}

let known: Promise<Layout> | undefined

/** Where everything public is described: the whole of it is worked out once. */
export function layout(): Promise<Layout> {
  known ??= makeLayout()
  return known
}

async function makeLayout(): Promise<Layout> {
  const things = await publicThings()
  const locks = things.find(({ name, entries }) => name === 'Locks' && entries[0] === 'holdfast')
  if (locks === undefined) throw new Error('nothing public is called Locks')
  const calls = callsOf(locks, things)
  const reachable = new Set(reachableFrom(locks, things))
  const isOfCalls = (thing: PublicThing): boolean =>
    /^src\/locks[./]/.test(thing.file) ||
    (reachable.has(thing) && !/^src\/(?:registry|dialects)/.test(thing.file))
  const partOf = (thing: PublicThing): Part => {
    if (calls.includes(thing)) return 'calls'
    const [first = ''] = thing.entries
    if (first !== 'holdfast') return ownPart(first)
    if (thing.node.type === 'ClassDeclaration') return 'errors'
    if (!thing.node.type.startsWith('TS')) return 'functions'
    return isOfCalls(thing) ? 'options' : 'dialects'
  }
  const onPart = new Map<Part, Entry[]>((Object.keys(parts) as Part[]).map((part) => [part, []]))
  for (const thing of [...calls, ...things.filter((one) => !calls.includes(one))])
    place(onPart.get(partOf(thing)) ?? [], thing)
  onPart.set('adapters', sharedFirst(onPart.get('adapters') ?? []))
  const adapters = (await adapterEntries()).map(({ name }) => `holdfast/${name}`)
  const ids = new Set(things.map(idOf))
  const isPublic = (declared: Declaration): boolean => ids.has(idOf(declared))
  return { things, onPart, isPublic, isCalls: (thing) => calls.includes(thing), adapters }
}

function ownPart(entry: string): Part {
  if (/\/(?:redis|etcd)$/.test(entry)) return 'coordinators'
  const own = (['race', 'watch', 'testing', 'opentelemetry', 'conformance'] as const).find((part) =>
    entry.endsWith(`/${part}`),
  )
  return own ?? 'adapters'
}

function place(entries: Entry[], thing: PublicThing): void {
  const at = entries.findIndex(({ name }) => name === thing.name)
  const before = entries[at]
  if (before === undefined) entries.push({ name: thing.name, things: [thing] })
  else entries[at] = { ...before, things: [...before.things, thing] }
}

/** What several entries have, functions before types; then what is an entry's own, entry by entry. */
function sharedFirst(entries: readonly Entry[]): Entry[] {
  const rank = ({ things }: Entry): number => {
    const [first] = things
    if (new Set(things.flatMap((thing) => thing.entries)).size < 2) return 2
    return first?.node.type.startsWith('TS') === true ? 1 : 0
  }
  return entries.toSorted((a, b) => rank(a) - rank(b))
}

/** An interface, and all public ones that it extends. */
function callsOf(thing: PublicThing, things: readonly PublicThing[]): readonly PublicThing[] {
  const bases = basesOf(thing).flatMap(({ declared }) =>
    things.filter((one) => declared !== undefined && idOf(one) === idOf(declared)),
  )
  return [thing, ...bases.flatMap((base) => callsOf(base, things))]
}
