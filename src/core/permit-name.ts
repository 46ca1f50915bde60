/**
 * What the leases of one semaphore, or of one shared lock, are called. None of them is the name of a lock or of a lease
 * that has a key.
 */
export interface PermitNames {
  /** Whoever is first in the line has this one. */
  readonly door: string
  readonly slot: (slot: number) => string
  /** Whether it is a name of this semaphore's. */
  readonly includes: (name: string) => boolean
}

/** As long as a name may be, less all but the readable part of it. */
const longestReadable = 64 - 'hp:door::'.length - 32

/** Who has the leases: a semaphore or a shared lock. */
export type PermitKind = 'permit' | 'shared'

const prefixes = { permit: 'hp:', shared: 'hs:' } as const

/** By the name that a lease of the same key has: `hl:mail:<hash>` gives `hp:0:mail:<hash>` and so on. */
export function permitNames(leaseName: string, kind: PermitKind = 'permit'): PermitNames {
  const prefix = prefixes[kind]
  const [, readable = '', hash = ''] = leaseName.split(':')
  const rest = `:${readable.slice(0, longestReadable)}:${hash}`
  return {
    door: `${prefix}door${rest}`,
    slot: (slot) => `${prefix}${slot}${rest}`,
    includes: (name) => name.startsWith(prefix) && name.endsWith(rest),
  }
}

export interface PermitNameRead {
  readonly kind: PermitKind
  readonly isDoor: boolean
  /** As people call it. */
  readonly part: string
  readonly readable: string
  readonly hash: string
}

/** What a name of a semaphore's or a shared lock's lease says; undefined for every other name. */
export function readPermitName(name: string): PermitNameRead | undefined {
  const { prefix, place, readable, hash } =
    /^(?<prefix>h[ps]:)(?<place>\d+|door):(?<readable>[a-z0-9._-]+):(?<hash>[a-z2-7]{32})$/.exec(name)
      ?.groups ?? {}
  if (place === undefined || readable === undefined || hash === undefined) return undefined
  const kind = prefix === prefixes.permit ? 'permit' : 'shared'
  const isDoor = place === 'door'
  return { kind, isDoor, part: isDoor ? place : `${kind} ${place}`, readable, hash }
}
