/** What a lock keeps others away from. `name` is a lock that covers no data at all. */
export type Granularity = 'row' | 'key-range' | 'table' | 'database' | 'name'

/**
 * How well a dialect gives what was asked.
 *
 * `native`: the engine has this lock. `stronger`: it locks more than was asked, so exclusion is kept at a price.
 * `emulated`: built from other means that keep the exclusion. `unsupported`: refused.
 */
export type SupportLevel = 'native' | 'stronger' | 'emulated' | 'unsupported'

export interface Supported {
  readonly level: Exclude<SupportLevel, 'unsupported'>
  readonly granularity: Granularity
  /** What differs from the native lock of other engines; present whenever the level is not `native`. */
  readonly note?: string
}

/** A lock that the engine cannot give: why not, and what to use instead. */
export interface Unsupported {
  readonly level: 'unsupported'
  readonly reason: string
  readonly instead: string
}

export type Support = Supported | Unsupported

export function native(granularity: Granularity, note?: string): Supported {
  return note === undefined ? { level: 'native', granularity } : { level: 'native', granularity, note }
}

export function stronger(granularity: Granularity, note: string): Supported {
  return { level: 'stronger', granularity, note }
}

export function emulated(granularity: Granularity, note: string): Supported {
  return { level: 'emulated', granularity, note }
}

export function unsupported(reason: string, instead: string): Unsupported {
  return { level: 'unsupported', reason, instead }
}

export function isUnsupported<T>(value: T | Unsupported): value is Unsupported {
  return typeof value === 'object' && value !== null && 'level' in value && value.level === 'unsupported'
}
