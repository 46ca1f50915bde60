import type { LockMode } from '../../core/request.ts'

/** Which lock a key means, to this process. */
export interface LockName {
  readonly text: string
  /** Only the server can tell which other names mean the same lock: then it must see each on a connection of its own. */
  readonly isAlone: boolean
}

/** A lock that was granted to this process. */
export interface HeldLock {
  readonly mode: LockMode
  /** Told when the connection is gone, and the lock with it. */
  readonly lose: (why: Error) => void
}

/**
 * The names that are reserved or held on one connection.
 *
 * A connection is granted again what it holds already, so each name is on it once at most: it is reserved before the
 * server is asked, and stays so until the server has given the lock back.
 */
export interface Names {
  readonly size: number
  /** Whether the name may be reserved, by somebody who puts at most so many names on one connection. */
  readonly canTake: (name: LockName, most: number) => boolean
  readonly reserve: (name: LockName) => void
  /** The reserved name was granted. */
  readonly keep: (name: LockName, lock: HeldLock) => void
  /** Whether it was there. */
  readonly drop: (name: LockName) => boolean
  /** All that was held. */
  readonly dropAll: () => readonly HeldLock[]
  /** The mode in which the name is held here. */
  readonly modeOf: (name: LockName) => LockMode | undefined
}

export function createNames(): Names {
  const names = new Map<string, HeldLock | undefined>()
  let isTakenAlone = false
  return {
    get size() {
      return names.size
    },
    canTake: ({ text, isAlone }, most) =>
      names.size === 0 || (!isAlone && !isTakenAlone && !names.has(text) && names.size < most),
    reserve: ({ text, isAlone }) => {
      names.set(text, undefined)
      isTakenAlone = isAlone
    },
    keep: ({ text }, lock) => void names.set(text, lock),
    drop: ({ text }) => names.delete(text),
    dropAll: () => {
      const held = [...names.values()].filter((lock) => lock !== undefined)
      names.clear()
      return held
    },
    modeOf: ({ text }) => names.get(text)?.mode,
  }
}
