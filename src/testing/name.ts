import { canonicalKey, isRawKey, type LockKey } from '../core/key.ts'
import { textOfKey } from '../locks/refused.ts'

/** What tells the lock of a key from all others. */
export function nameOfKey(key: LockKey): string {
  return isRawKey(key) ? `raw ${textOfKey(key)}` : canonicalKey(key).name
}
