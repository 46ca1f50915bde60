import type { CheckedAdvisory } from '../core/check-request.ts'
import { LockUsageError } from '../core/errors.ts'
import { canonicalKey, isRawKey, type LockKey } from '../core/key.ts'
import type { LeaseTerms } from '../core/request.ts'
import { unsupported, type Unsupported } from '../core/support.ts'

/** The name of a key's lease, on engines where every named lock is a lease. */
export function leaseName(key: LockKey): string | Unsupported {
  if (!isRawKey(key)) return canonicalKey(key).name
  return unsupported('this database has no advisory locks that other code could share', 'use a plain key')
}

export function leaseTerms({ lease }: CheckedAdvisory): LeaseTerms {
  if (lease !== undefined) return lease
  throw new LockUsageError('lease', 'this database keeps a session lock as a lease: pass { owner, ttlMs }')
}
