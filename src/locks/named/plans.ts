import type { Plan } from '../../core/plan.ts'
import type { AdvisoryRequest } from '../../core/request.ts'
import type { Server } from '../port.ts'
import { knownKeys } from './known-keys.ts'
import { keyId } from './named-key.ts'

/** Plans a lock with a name. */
export type PlanNamed = (server: Server, request: AdvisoryRequest) => Plan

/** The same for somebody who may know the text that tells the key from every other. */
export type PlanKnown = (server: Server, request: AdvisoryRequest, id?: string) => Plan

/** The plans of so many keys are kept, and so many of each. A plan is a few hundred bytes. */
const maxKeys = 1000
const maxWays = 4

interface KnownPlan {
  readonly request: AdvisoryRequest
  readonly plan: Plan
}

/** Every lock with a name is planned, however it is asked for; most are asked for in the same way again. */
export function rememberPlans(planFor: PlanNamed): PlanKnown {
  const plans = new Map<string, KnownPlan[]>()
  return (server, request, id = keyId(request.key)) => {
    const isUsual = request.lease === undefined
    const ways = isUsual ? plans.get(id) : undefined
    const known = ways?.find((way) => isAlike(way.request, request))
    if (known !== undefined) return known.plan
    const plan = planFor(server, request)
    knownKeys.remember(request.key) // which is a key indeed, since it could be planned
    if (isUsual) {
      if (plans.size >= maxKeys) plans.clear()
      // the newest first: a time that is left may never be the same again
      plans.set(id, [{ request, plan }, ...(ways ?? [])].slice(0, maxWays))
    }
    return plan
  }
}

/** Of the same key. Field by field: a text of all of them would be made anew for each lock. */
function isAlike(a: AdvisoryRequest, b: AdvisoryRequest): boolean {
  return (
    a.mode === b.mode &&
    isSameWait(a.wait, b.wait) &&
    a.isolation === b.isolation &&
    a.exact === b.exact &&
    a.scope === b.scope
  )
}

function isSameWait(a: AdvisoryRequest['wait'], b: AdvisoryRequest['wait']): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b
  return a.timeoutMs === b.timeoutMs
}
