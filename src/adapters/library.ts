/** Something of a library that has an entry of its own. */
export interface Library {
  /** Behind `holdfast/`. */
  readonly entry: string
  readonly what: string
}

export type Members = Readonly<Record<PropertyKey, unknown>>

export interface KnownLibrary extends Library {
  /** What no other library has, in the versions that Holdfast is tested with. */
  readonly is: (members: Members) => boolean
}

export function has(members: Members, ...methods: readonly string[]): boolean {
  return methods.every((name) => typeof members[name] === 'function')
}
