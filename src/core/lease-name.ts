import { LockUsageError } from './errors.ts'
import { canonicalKey, isRawKey, type LockKey } from './key.ts'

/**
 * The name of the lease that a caller asks for by this key.
 *
 * Leases have names of their own: on every database alike, a lease and a lock of the same key know nothing of each
 * other, also where the lock is kept as a lease.
 */
export function chosenLeaseName(key: LockKey): string {
  if (!isRawKey(key)) return asLeaseName(canonicalKey(key).name)
  throw new LockUsageError(
    'key',
    `is in an engine's own form (${key.raw}), which no lease can share with other code; use a plain key`,
  )
}

/** The name of a lease, from that of a lock of the same key. */
export function asLeaseName(name: string): string {
  return name.replace(/^hf:/, 'hl:')
}
