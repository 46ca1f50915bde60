import type { CheckedAdvisory } from '../../core/check-request.ts'
import { waitingBy, type PlanDraft } from '../../core/plan.ts'
import { emulated, isUnsupported, type Unsupported } from '../../core/support.ts'
import { leaseName, leaseTerms } from '../lease-key.ts'
import { acquireLease, guardDocument, leaseCollection, releaseLease } from './lease.ts'

/**
 * A document of `_leases` for each name: a session's lock is a lease on it by the server's clock, a transaction's
 * lock is a change of it that only one open transaction can make. So both scopes exclude each other.
 */
export function advisory(request: CheckedAdvisory): PlanDraft | Unsupported {
  const name = leaseName(request.key)
  if (isUnsupported(name)) return name
  const shared = { mode: 'exclusive', scope: request.scope, needs: [leaseCollection] } as const
  if (request.scope === 'transaction') {
    return {
      ...shared,
      support: emulated(
        'name',
        'a guard document: the second transaction to take the lock is aborted and repeated',
      ),
      waiting: waitingBy('transaction', request.wait),
      inTransaction: [guardDocument(name)],
    }
  }
  const terms = leaseTerms(request)
  return {
    ...shared,
    support: emulated(
      'name',
      'there are no advisory locks: a lease in the collection _leases, which expires',
    ),
    waiting: waitingBy('statement', request.wait),
    beforeBegin: [acquireLease({ name, ...terms })],
    afterEnd: [releaseLease({ name, owner: terms.owner }, 0)],
  }
}
