import type { CheckedAdvisory } from '../../core/check-request.ts'
import { waitingBy, type PlanDraft } from '../../core/plan.ts'
import type { LeaseTerms } from '../../core/request.ts'
import type { Answers, DocumentCommand } from '../../core/statement.ts'
import { emulated, isUnsupported, type Unsupported } from '../../core/support.ts'
import { leaseName, leaseTerms } from '../lease-key.ts'

const granted: Answers = { column: '_id', meaning: { none: 'busy', '*': 'granted' } }
const released: Answers = { column: '_id', meaning: { none: 'not-held', '*': 'released' } }

/** A lease outlives a failover only when most members have it. */
const durable = { writeConcern: { w: 'majority' } }

/**
 * A document of `_leases` for each name: a session's lock is a lease on it by the server's clock, a transaction's
 * lock is a change of it that only one open transaction can make. So both scopes exclude each other.
 */
export function advisory(request: CheckedAdvisory): PlanDraft | Unsupported {
  const name = leaseName(request.key)
  if (isUnsupported(name)) return name
  const shared = { mode: 'exclusive', scope: request.scope, needs: [leaseDocument(name)] } as const
  if (request.scope === 'transaction') {
    return {
      ...shared,
      support: emulated(
        'name',
        'a guard document: the second transaction to take the name is aborted and repeated',
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
      'there are no named locks: a lease in the collection _leases, which ends by itself',
    ),
    waiting: waitingBy('statement', request.wait),
    beforeBegin: [acquireLease(name, terms)],
    afterEnd: [releaseLease(name, terms)],
  }
}

/** Never deleted, so that its fence rises for ever. */
function leaseDocument(name: string): DocumentCommand {
  const fresh = { fence: 0, expiresAt: new Date(0) }
  const update = { q: { _id: name }, u: { $setOnInsert: fresh }, upsert: true }
  return { command: { update: '_leases', updates: [update], ...durable } }
}

const hasExpired = { $expr: { $lte: ['$expiresAt', '$$NOW'] } }

function guardDocument(name: string): DocumentCommand {
  const query = { _id: name, ...hasExpired }
  return {
    command: { findAndModify: '_leases', query, update: { $inc: { fence: 1 } }, new: true },
    answers: granted,
  }
}

function acquireLease(name: string, { owner, ttlMs }: LeaseTerms): DocumentCommand {
  const held = { owner, fence: { $add: ['$fence', 1] }, expiresAt: { $add: ['$$NOW', ttlMs] } }
  const query = { _id: name, ...hasExpired }
  return {
    command: { findAndModify: '_leases', query, update: [{ $set: held }], new: true, ...durable },
    answers: granted,
  }
}

/** Frees only the owner's own lease: a late release by an earlier owner finds nothing. */
function releaseLease(name: string, { owner }: LeaseTerms): DocumentCommand {
  const update = { $set: { expiresAt: new Date(0) }, $unset: { owner: '' } }
  return {
    command: { findAndModify: '_leases', query: { _id: name, owner }, update, ...durable },
    answers: released,
  }
}
