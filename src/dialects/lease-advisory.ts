import type { CheckedAdvisory } from '../core/check-request.ts'
import { waitingBy, type PlanDraft } from '../core/plan.ts'
import { emulated, isUnsupported, type Supported, type Unsupported } from '../core/support.ts'
import { leaseName, leaseTerms } from './lease-key.ts'
import { acquireLease, guardRow, leaseRow, leaseTable, releaseLease } from './lease-table.ts'

/** What SQL engines without named locks do differently. */
export interface LeaseTraits {
  /** The engine's expression for its own clock in milliseconds. */
  readonly nowMs: string
  /** How a lock is given that lasts as long as the transaction. */
  readonly support: Supported
  readonly begin?: string
}

/**
 * Named locks on an engine that has none.
 *
 * Both scopes are the same row of `_leases`, so they exclude each other: a session's lock is a lease on it, a
 * transaction's lock is a change of it that only one open transaction can make.
 */
export function leaseAdvisory(request: CheckedAdvisory, traits: LeaseTraits): PlanDraft | Unsupported {
  const name = leaseName(request.key)
  if (isUnsupported(name)) return name
  const { nowMs, ...inTransaction } = traits
  const shared = { mode: 'exclusive', scope: request.scope } as const
  if (request.scope === 'transaction') {
    const waiting = waitingBy('transaction', request.wait)
    const needs = [leaseTable, leaseRow(name)]
    return { ...shared, ...inTransaction, waiting, needs, inTransaction: [guardRow(name, nowMs)] }
  }
  const terms = leaseTerms(request)
  return {
    ...shared,
    support: emulated('name', 'there are no advisory locks: a lease in the table _leases, which expires'),
    waiting: waitingBy('statement', request.wait),
    needs: [leaseTable],
    beforeBegin: [acquireLease({ name, ...terms }, nowMs)],
    afterEnd: [releaseLease({ name, owner: terms.owner }, 0, nowMs)],
  }
}
