import { onDemand, type OnDemand } from '../core/on-demand.ts'
import type * as Claims from './queue/calls.ts'
import type * as Enqueuing from './queue/enqueue.ts'
import type * as Fences from './lease/fence.ts'
import type * as Holds from './named/hold.ts'
import type * as InOrder from './patterns/in-order.ts'
import type * as Leader from './nodes/leader.ts'
import type * as Leases from './lease/lease.ts'
import type * as Once from './patterns/once.ts'
import type * as Optimistic from './patterns/optimistic.ts'
import type * as Permits from './semaphore/permit.ts'
import type * as Probe from './named/probe.ts'
import type * as Singleton from './nodes/singleton.ts'

/*
 * What not every program uses: loaded when one does, from files of its own. A bundler leaves out those that nobody asks for.
 */
export const claims: OnDemand<typeof Claims> = /* @__PURE__ */ onDemand(() => import('./queue/calls.ts'))
export const enqueuing: OnDemand<typeof Enqueuing> = /* @__PURE__ */ onDemand(
  () => import('./queue/enqueue.ts'),
)
export const fences: OnDemand<typeof Fences> = /* @__PURE__ */ onDemand(() => import('./lease/fence.ts'))
export const holds: OnDemand<typeof Holds> = /* @__PURE__ */ onDemand(() => import('./named/hold.ts'))
export const inOrder: OnDemand<typeof InOrder> = /* @__PURE__ */ onDemand(
  () => import('./patterns/in-order.ts'),
)
export const leader: OnDemand<typeof Leader> = /* @__PURE__ */ onDemand(() => import('./nodes/leader.ts'))
export const leases: OnDemand<typeof Leases> = /* @__PURE__ */ onDemand(() => import('./lease/lease.ts'))
export const once: OnDemand<typeof Once> = /* @__PURE__ */ onDemand(() => import('./patterns/once.ts'))
export const optimistic: OnDemand<typeof Optimistic> = /* @__PURE__ */ onDemand(
  () => import('./patterns/optimistic.ts'),
)
export const permits: OnDemand<typeof Permits> = /* @__PURE__ */ onDemand(
  () => import('./semaphore/permit.ts'),
)
export const probe: OnDemand<typeof Probe> = /* @__PURE__ */ onDemand(() => import('./named/probe.ts'))
export const singleton: OnDemand<typeof Singleton> = /* @__PURE__ */ onDemand(
  () => import('./nodes/singleton.ts'),
)
