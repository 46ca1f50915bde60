import * as leases from './lease/lease.ts'
import * as fences from './lease/fence.ts'
import * as holds from './named/hold.ts'
import * as probe from './named/probe.ts'
import * as leader from './nodes/leader.ts'
import * as singleton from './nodes/singleton.ts'
import * as inOrder from './patterns/in-order.ts'
import * as once from './patterns/once.ts'
import * as optimistic from './patterns/optimistic.ts'
import * as claims from './queue/calls.ts'
import * as enqueuing from './queue/enqueue.ts'
import * as seldom from './seldom.ts'
import * as permits from './semaphore/permit.ts'

/**
 * For those who move the clock, or count what is sent: a call is to begin at once, and not to wait for a file. From now on
 * all is there that is loaded on demand.
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
