/** Over how long the rate is taken, so that one batch is no peak. */
const windowMs = 10_000

/** Tells how many jobs are claimed in a second, from the claims that hold at each look. */
export type ClaimRate = (claims: ReadonlyMap<string, number>, nowMs: number) => number | undefined

/**
 * Every claim has a token of its own, so one that was not there before is new. What was claimed and done between two looks
 * is never seen: the rate is the least that it can have been. Undefined at the first look.
 */
export function createClaimRate(): ClaimRate {
  let before: ReadonlyMap<string, number> | undefined
  let looks: readonly { readonly at: number; readonly fresh: number }[] = []
  return (claims, nowMs) => {
    const known = before
    before = claims
    const fresh = known === undefined ? 0 : newIn(claims, known)
    looks = [...looks.filter(({ at }) => at >= nowMs - windowMs), { at: nowMs, fresh }]
    const [first, ...later] = looks
    if (first === undefined || later.length === 0 || nowMs <= first.at) return undefined
    return (later.reduce((sum, look) => sum + look.fresh, 0) * 1000) / (nowMs - first.at)
  }
}

function newIn(claims: ReadonlyMap<string, number>, known: ReadonlyMap<string, number>): number {
  return [...claims].reduce((sum, [token, jobs]) => (known.has(token) ? sum : sum + jobs), 0)
}
