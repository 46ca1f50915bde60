/** What a lock keeps others away from. `name` is a lock that covers no data at all. */
export type Granularity = 'row' | 'key-range' | 'table' | 'database' | 'name'

/**
 * How well a dialect gives what was asked.
 *
 * `native`: the engine has this lock. `stronger`: it locks more than was asked, so exclusion is kept at a price.
 * `emulated`: built from other means that keep the exclusion. `unsupported`: refused.
 */
export type SupportLevel = 'native' | 'stronger' | 'emulated' | 'unsupported'

/** How a database gives a lock. */
export interface Supported {
  /** `native`: as asked. `stronger`: more is locked than asked. `emulated`: exclusion by other means. */
  readonly level: Exclude<SupportLevel, 'unsupported'>
  /** How much is locked: a row, a table, the whole database. */
  readonly granularity: Granularity
  /** What differs from the native lock of other engines; present whenever the level is not `native`. */
  readonly note?: string
}

/** A lock that the engine cannot give: why not, and what to use instead. */
export interface Unsupported {
  /** Tells it from what is supported. */
  readonly level: 'unsupported'
  /** Why the database cannot give it. */
  readonly reason: string
  /** What to use instead. */
  readonly instead: string
}

/** What a database gives of a kind of lock, or why it does not. */
export type Support = Supported | Unsupported

/** Support by a lock of the database itself. */
export function native(granularity: Granularity, note?: string): Supported {
  return note === undefined ? { level: 'native', granularity } : { level: 'native', granularity, note }
}

/** Support by a lock that holds off more than was asked for. */
export function stronger(granularity: Granularity, note: string): Supported {
  return { level: 'stronger', granularity, note }
}

/** Support by other means than a lock of the database, with the same exclusion. */
export function emulated(granularity: Granularity, note: string): Supported {
  return { level: 'emulated', granularity, note }
}

/** A refusal: why the database cannot give the lock, and what to use instead. */
export function unsupported(reason: string, instead: string): Unsupported {
  return { level: 'unsupported', reason, instead }
}

/** Whether a cell of the matrix is a refusal. */
export function isUnsupported<T>(value: T | Unsupported): value is Unsupported {
  return typeof value === 'object' && value !== null && 'level' in value && value.level === 'unsupported'
}
