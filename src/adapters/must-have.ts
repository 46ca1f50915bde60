import { LockUsageError } from '../core/errors.ts'
import { libraryOf } from './libraries.ts'
import type { Library } from './library.ts'

/** What `createLocks` is to be given. */
export interface Wanted {
  readonly field: string
  /** What all that will do have. */
  readonly methods: readonly string[]
  /** What to pass, in words. */
  readonly pass: string
  /** The library that it comes from; what is known to be of another is refused, whatever methods it has. */
  readonly from?: string
}

/** Throws where something else was given: only TypeScript sees it before. */
export function mustHave(given: unknown, wanted: Wanted): void {
  const members = (given ?? {}) as Readonly<Record<string, unknown>>
  const isThere = wanted.methods.every((name) => typeof members[name] === 'function')
  if (!isThere || foreign(given, wanted) !== undefined) throw notWanted(given, wanted)
}

/** What was given, and what to pass. Shows nothing of an address, for its password. */
export function notWanted(given: unknown, wanted: Omit<Wanted, 'methods'>): LockUsageError {
  const library = foreign(given, wanted)
  return new LockUsageError(
    wanted.field,
    library === undefined
      ? `${whatItIs(given)}: pass ${wanted.pass}`
      : `is ${library.what}: pass ${wanted.pass}, or import createLocks from 'holdfast/${library.entry}'`,
  )
}

function foreign(given: unknown, { from }: Pick<Wanted, 'from'>): Library | undefined {
  const library = from === undefined ? undefined : libraryOf(given)
  return library?.entry === from ? undefined : library
}

function whatItIs(given: unknown): string {
  if (given === undefined || given === null) return `is ${String(given)}`
  if (given instanceof Promise) return 'is a promise, which is not awaited'
  if (given instanceof URL) return 'is a URL'
  if (Array.isArray(given)) return 'is a list'
  if (typeof given === 'function')
    return /^class\b/.test(String(given)) ? `is the class ${given.name}` : 'is a function'
  if (typeof given !== 'object') return `is a ${typeof given}`
  const { constructor } = given
  return typeof constructor === 'function' && constructor !== Object && constructor.name !== ''
    ? `is of the class ${constructor.name}`
    : 'is a plain object'
}
