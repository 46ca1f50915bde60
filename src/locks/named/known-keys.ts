import type { LockKey } from '../../core/key.ts'

/** The keys that were asked for, so that a lock of which the server shows a number can be called by its name. */
export interface KnownKeys extends Iterable<LockKey> {
  readonly remember: (key: LockKey) => void
}

/**
 * Hashes nothing: whoever looks at locks does that, and few ever look. Knows at most so many keys, and always the half
 * of them that was asked for last.
 */
export function createKnownKeys(most = 10_000): KnownKeys {
  let older = new Map<string, LockKey>()
  let newer = new Map<string, LockKey>()
  return {
    remember: (key) => {
      newer.set(textOf(key), key)
      if (newer.size < most / 2) return
      // all at once: a map that loses its first entry again and again is slow to find the next one
      older = newer
      newer = new Map()
    },
    [Symbol.iterator]: () => new Map([...older, ...newer]).values(),
  }
}

/** Of this process. The same key means the same lock name on every database. */
export const knownKeys: KnownKeys = createKnownKeys()

/** `7` is not `'7'`; a key in an engine's own form is told apart by that form. */
function textOf(key: LockKey): string {
  if (typeof key !== 'object') return partText(key)
  if ('raw' in key) return Object.values(key).join(' ')
  return key.map(partText).join()
}

function partText(part: string | number | bigint): string {
  return typeof part === 'string' ? JSON.stringify(part) : String(part)
}
