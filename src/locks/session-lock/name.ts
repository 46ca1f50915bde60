import { canonicalKey, isRawKey, type LockKey } from '../../core/key.ts'
import type { LockName } from './holder-names.ts'

/**
 * Which lock a key means. Keys that can mean the same lock on the server have the same text here.
 *
 * Which raw names are the same is up to the server (case, accents, collisions of `hashtext`), so they stand alone.
 */
export function lockName(key: LockKey): LockName {
  if (!isRawKey(key)) return { text: String(canonicalKey(key).int64), isAlone: false }
  switch (key.raw) {
    case 'int64':
      return { text: String(key.value), isAlone: false }
    case 'int32-pair':
      return { text: key.values.join(','), isAlone: false }
    case 'hashtext':
      return { text: `hashtext ${key.text}`, isAlone: true }
    case 'name':
      return { text: `name ${key.name}`, isAlone: true }
  }
}
