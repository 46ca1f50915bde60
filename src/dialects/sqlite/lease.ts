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
  // A transaction that writes is the only one, from its BEGIN IMMEDIATE to its end: looking is enough.
  guard: (held) => {
    const { condition, params } = heldBy(held)
    return { sql: `SELECT 1 AS answer FROM _leases WHERE ${condition}`, params, answers: leaseAnswers.held }
  },
}
