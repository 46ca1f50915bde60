import { leaseAnswers, type LeaseStatements } from '../lease.ts'
import { lookAtLeases } from '../lease-look.ts'
import { acquireLease, admitFence, heldBy, leaseTable, releaseLease, renewLease } from '../lease-table.ts'
import { nowMs } from './syntax.ts'

export const lease: LeaseStatements = {
  schema: [leaseTable],
  acquire: (claim) => [acquireLease(claim, nowMs)],
  renew: (held, ttlMs) => [renewLease(held, ttlMs, nowMs)],
  release: (held, holdMs) => [releaseLease(held, holdMs, nowMs)],
  look: (names) => lookAtLeases(names, nowMs),
  admit: (name, fence) => [admitFence(name, fence)],
  // Whoever else changes the row meanwhile is aborted, a renewal too.
  guard: (held) => {
    const { condition, params } = heldBy(held)
    return {
      sql: `UPDATE _leases SET guard = guard + 1 WHERE ${condition} RETURNING 1 AS answer`,
      params,
      answers: leaseAnswers.held,
    }
  },
}
