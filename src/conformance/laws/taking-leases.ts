import type { LeaseSeen } from '../../core/inspection.ts'
import { chosenLeaseName } from '../../core/lease-name.ts'
import type { Lease } from '../../locks/lease/lease.ts'
import type { LeaseOptions } from '../../locks/lease/options.ts'
import type { Stage } from '../stage.ts'
import { expectRefusal, kept, until, type Taking } from './taking.ts'

/** One that a law sees end by itself. */
export function short({ briefMs }: Stage): { readonly ttlMs: number; readonly renew: false } {
  return { ttlMs: briefMs, renew: false }
}

/** So long that no law sees it end by itself. */
export const long = { ttlMs: 60_000, renew: false } as const

/** Takes a lease for a law that needs to look at it. */
export async function takeLease(stage: Stage, taking: Taking<LeaseOptions>): Promise<Lease> {
  const { actor, key, options } = taking
  const { locks } = await stage.client(actor)
  const asked = locks.lease(stage.keyOf(key), { signal: stage.signal, ...options })
  return kept(stage, { actor, does: `lease ${key}`, asked })
}

/** Breaks the law unless another holds the lease. */
export function expectLeased(stage: Stage, { actor, key }: Taking<never>): Promise<void> {
  const taking = takeLease(stage, { actor, key, options: { wait: 'nowait' } })
  const does = `${actor}: lease ${key}, which another holds`
  return expectRefusal(stage, { does, code: 'LOCK_NOT_AVAILABLE' }, taking)
}

/** The lease as the database shows it; undefined where nobody has it. */
export async function seenLease(stage: Stage, key: string): Promise<LeaseSeen | undefined> {
  const { leases } = await stage.ground.observer.locks.inspect()
  const called = chosenLeaseName(stage.keyOf(key))
  return leases.find(({ name }) => name === called)
}

/** Waits until a lease is over by the server's clock. */
export function untilExpired(stage: Stage, key: string): Promise<void> {
  return until(stage, `the lease ${key} ends by itself`, async () => {
    const seen = await seenLease(stage, key)
    return seen === undefined || seen.remainingMs <= 0
  })
}

/** Deletes the row of a lease, as somebody does who cleans up. */
export async function deleteLease(stage: Stage, key: string): Promise<void> {
  const { remove } = stage.facts.tools.examination.leaseRow
  const deleting = stage.ground.command(remove(chosenLeaseName(stage.keyOf(key))))
  await stage.note(
    'server',
    `delete the row of ${key}`,
    deleting.then(() => undefined),
  )
}
