import { inspect } from 'node:util'

import { quietly } from './unwrap.ts'

/** A value in words. Never throws: what has no text of its own, or one that throws, is described. */
export function inWords(value: unknown): string {
  return (
    quietly(() => String(value)) ??
    quietly(() => inspect(value, { depth: 0, breakLength: Infinity, customInspect: false })) ??
    'something without words'
  )
}

/** What was thrown, where it is an error; otherwise an error that says what it was. */
export function asError(thrown: unknown): Error {
  const known = readable(thrown)
  return known instanceof Error ? known : new Error(inWords(known))
}

/** What was thrown, unless not even its class can be asked for, as of a proxy that throws: then an error with it as `cause`. */
export function readable(thrown: unknown): unknown {
  const isReadable = quietly(() => thrown instanceof Error) !== undefined
  return isReadable ? thrown : new Error(`${inWords(thrown)} was thrown`, { cause: thrown })
}
