import type { LeaseSeen } from '../core/inspection.ts'
import { readPermitName } from '../core/permit-name.ts'
import type { Row } from '../core/statement.ts'
import { textOf } from './inspect-session.ts'
import { sql } from './sql.ts'
import type { Question } from './tools.ts'

/**
 * `now` is the engine's expression for its own clock in milliseconds. A row without an owner is of no lease, unless its time
 * is not over: it was given back, and is kept from others until then.
 */
export function leaseQuestion(now: string): Question {
  return {
    ask: sql(
      `SELECT name, owner, fence, expires_at - ${now} AS remaining_ms FROM _leases ` +
        `WHERE owner IS NOT NULL OR expires_at > ${now} ORDER BY name`,
    ),
    unknown: 'leases: the table _leases is not there yet, or this user may not read it',
  }
}

/** What stands in `_leases`: rows of `name`, `owner`, `fence` and `remaining_ms`. */
export function readLeases(rows: readonly Row[] | undefined): readonly LeaseSeen[] {
  return (rows ?? []).map(({ name, owner, fence, remaining_ms: remaining }) => ({
    name: String(name),
    key: readableKey(String(name)) ?? String(name),
    owner: textOf(owner),
    fence: Number(fence),
    remainingMs: Number(remaining),
  }))
}

/** The readable part of a name that Holdfast gave: of `hf:orders.7:<hash>` it is `orders.7`. */
export function readableKey(name: string): string | undefined {
  const permit = readPermitName(name)
  if (permit !== undefined) return `${permit.readable} (${permit.part})`
  return /^h[fl]:([a-z0-9._-]+):[a-z2-7]{32}$/.exec(name)?.[1]
}
