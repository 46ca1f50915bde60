import { LockUsageError } from '../core/errors.ts'

/** What `createLocks` is to be given. */
export interface Wanted {
  readonly field: string
  /** What all that will do have. */
  readonly methods: readonly string[]
  /** What to pass, in words. */
  readonly pass: string
}

/** Throws where something else was given: only TypeScript sees it before. Shows nothing of an address, for its password. */
export function mustHave(given: unknown, { field, methods, pass }: Wanted): void {
  const members = (given ?? {}) as Readonly<Record<string, unknown>>
  if (methods.every((name) => typeof members[name] === 'function')) return
  throw new LockUsageError(field, `${whatItIs(given)}: pass ${pass}`)
}

function whatItIs(given: unknown): string {
  if (given === undefined || given === null) return `is ${String(given)}`
  return typeof given === 'string' ? 'is a string' : 'is something else'
}
