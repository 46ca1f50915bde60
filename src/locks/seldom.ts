import { onDemand } from '../core/on-demand.ts'

/*
 * What not every program uses: loaded when one does, from files of its own. A bundler leaves out those that nobody asks for.
 */
export const claims = /* @__PURE__ */ onDemand(() => import('./queue/calls.ts'))
export const enqueuing = /* @__PURE__ */ onDemand(() => import('./queue/enqueue.ts'))
export const fences = /* @__PURE__ */ onDemand(() => import('./lease/fence.ts'))
export const holds = /* @__PURE__ */ onDemand(() => import('./named/hold.ts'))
export const inOrder = /* @__PURE__ */ onDemand(() => import('./patterns/in-order.ts'))
export const leader = /* @__PURE__ */ onDemand(() => import('./nodes/leader.ts'))
export const leases = /* @__PURE__ */ onDemand(() => import('./lease/lease.ts'))
export const once = /* @__PURE__ */ onDemand(() => import('./patterns/once.ts'))
export const optimistic = /* @__PURE__ */ onDemand(() => import('./patterns/optimistic.ts'))
export const permits = /* @__PURE__ */ onDemand(() => import('./semaphore/permit.ts'))
export const probe = /* @__PURE__ */ onDemand(() => import('./named/probe.ts'))
export const singleton = /* @__PURE__ */ onDemand(() => import('./nodes/singleton.ts'))
