import { performance } from '../../core/clock.ts'
import type { News } from './news.ts'

/**
 * The processes that wait for one lease, in the order in which they began, as far as this one has heard of them.
 *
 * It is an order of politeness. Whoever stands at place n may ask for a free lease after n times the grace, so one that
 * is dead, stopped or gone holds up the others for that long, once: it is then struck off.
 */
export interface Line {
  readonly hear: (news: News) => void
  /** A request of that moment has found the lease held. */
  readonly foundHeld: (askedAt: number) => void
  /** When this process is to ask, on the monotonic clock: `Infinity` while the lease is held. */
  readonly turnAt: () => number
  /** How many are to ask before this process. */
  readonly place: () => number
  /** Since when this process stands in the line; undefined when it does not. */
  readonly since: () => number | undefined
  /** Whether anybody else stands in it. */
  readonly hasOthers: () => boolean
  readonly clear: () => void
}

/** How long whoever is first has to ask for a free lease before the next one does: much longer than a message takes. */
export const graceMs = 100

/** By how much the release may be heard of later here than there. */
const earlyMs = 10

/** More than wait for one lease; anybody can tell of more. */
const longest = 1000

export function createLine(me: string, now: () => number = () => performance.now()): Line {
  const all = createStandings()
  let freeAt: number | undefined
  const place = (): number => (all.placeOf(me) < 0 ? all.count() : all.placeOf(me))
  /** Those in front of whoever took it had their time, as far as it was over. */
  const strikePassed = (taker: string): void => {
    if (freeAt === undefined) return
    const passed = Math.floor((now() - freeAt + earlyMs) / graceMs)
    all.removeFirst(Math.max(0, Math.min(all.placeOf(taker), passed)))
  }
  const hear = (news: News): void => {
    const { kind, member } = news
    if (kind === 'took') strikePassed(news.member)
    if (kind === 'waits') all.add(news.member, now() - news.forMs)
    else if (member !== undefined) all.remove(member)
    if (kind === 'took' || kind === 'waits') freeAt = undefined
    if (kind !== 'freed') return
    freeAt = now()
    if (member !== undefined) all.add(member, freeAt)
  }
  return {
    hear,
    foundHeld: (askedAt) => {
      if (freeAt !== undefined && freeAt < askedAt) freeAt = undefined
    },
    turnAt: () => (freeAt === undefined ? Infinity : freeAt + place() * graceMs),
    place,
    since: () => all.since(me),
    hasOthers: () => all.count() > (all.placeOf(me) < 0 ? 0 : 1),
    clear: () => {
      all.removeFirst(Infinity)
      freeAt = undefined
    },
  }
}

interface Standings {
  readonly count: () => number
  /** -1 for whoever is not among them. */
  readonly placeOf: (member: string) => number
  readonly since: (member: string) => number | undefined
  /** Whoever is among them already keeps its place. */
  readonly add: (member: string, since: number) => void
  readonly remove: (member: string) => void
  readonly removeFirst: (count: number) => void
}

/** Members by how long they stand, the longest first. */
function createStandings(): Standings {
  let all: { readonly member: string; readonly since: number }[] = []
  const placeOf = (member: string): number => all.findIndex((one) => one.member === member)
  return {
    count: () => all.length,
    placeOf,
    since: (member) => all[placeOf(member)]?.since,
    add: (member, since) => {
      if (placeOf(member) >= 0 || all.length >= longest) return
      const next = all.findIndex((one) => one.since > since)
      all.splice(next < 0 ? all.length : next, 0, { member, since })
    },
    remove: (member) => {
      all = all.filter((one) => one.member !== member)
    },
    removeFirst: (count) => void all.splice(0, count),
  }
}
