/** What the leases of one semaphore are called. None of them is the name of a lock or of a lease that has a key. */
export interface PermitNames {
  /** Whoever is first in the line has this one. */
  readonly door: string
  readonly slot: (slot: number) => string
  /** Whether it is a name of this semaphore's. */
  readonly includes: (name: string) => boolean
}

/** As long as a name may be, less all but the readable part of it. */
const longestReadable = 64 - 'hp:door::'.length - 32

/** By the name that a lease of the same key has: `hl:mail:<hash>` gives `hp:0:mail:<hash>` and so on. */
export function permitNames(leaseName: string): PermitNames {
  const [, readable = '', hash = ''] = leaseName.split(':')
  const rest = `:${readable.slice(0, longestReadable)}:${hash}`
  return {
    door: `hp:door${rest}`,
    slot: (slot) => `hp:${slot}${rest}`,
    includes: (name) => name.startsWith('hp:') && name.endsWith(rest),
  }
}

/** What a name of a semaphore's lease says; undefined for every other name. */
export function readPermitName(
  name: string,
): { readonly part: string; readonly readable: string; readonly hash: string } | undefined {
  const { part, readable, hash } =
    /^hp:(?<part>\d+|door):(?<readable>[a-z0-9._-]+):(?<hash>[a-z2-7]{32})$/.exec(name)?.groups ?? {}
  if (part === undefined || readable === undefined || hash === undefined) return undefined
  return { part: part === 'door' ? part : `permit ${part}`, readable, hash }
}
