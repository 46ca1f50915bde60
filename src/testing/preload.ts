import * as leases from '../locks/lease/lease.ts'
import * as fences from '../locks/lease/fence.ts'
import * as holds from '../locks/named/hold.ts'
import * as probe from '../locks/named/probe.ts'
import * as leader from '../locks/nodes/leader.ts'
import * as singleton from '../locks/nodes/singleton.ts'
import * as inOrder from '../locks/patterns/in-order.ts'
import * as once from '../locks/patterns/once.ts'
import * as optimistic from '../locks/patterns/optimistic.ts'
import * as claims from '../locks/queue/calls.ts'
import * as enqueuing from '../locks/queue/enqueue.ts'
import * as seldom from '../locks/seldom.ts'
import * as permits from '../locks/semaphore/permit.ts'

/**
 * For those who move or stop the clock: what a call does is to have begun when they do, and not to wait for a file. Every
 * part of the library is there from now on.
 */
export function preload(): void {
  for (const keep of Object.values(keepAll)) keep()
}

const keepAll: Readonly<Record<keyof typeof seldom, () => void>> = {
  claims: () => seldom.claims.keep(claims),
  enqueuing: () => seldom.enqueuing.keep(enqueuing),
  fences: () => seldom.fences.keep(fences),
  holds: () => seldom.holds.keep(holds),
  inOrder: () => seldom.inOrder.keep(inOrder),
  leader: () => seldom.leader.keep(leader),
  leases: () => seldom.leases.keep(leases),
  once: () => seldom.once.keep(once),
  optimistic: () => seldom.optimistic.keep(optimistic),
  permits: () => seldom.permits.keep(permits),
  probe: () => seldom.probe.keep(probe),
  singleton: () => seldom.singleton.keep(singleton),
}
