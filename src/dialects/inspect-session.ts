import type { LockSeen, SessionSeen, WaitSeen } from '../core/inspection.ts'
import type { Row } from '../core/statement.ts'

export interface SessionLocks {
  readonly state: SessionSeen['state']
  readonly holds: readonly LockSeen[]
  readonly waits?: WaitSeen | undefined
}

/**
 * What a row tells of a session, in the columns `id`, `user_name`, `application`, `statement` and `transaction_ms`.
 * What the server leaves empty is absent.
 */
export function sessionSeen(columns: Row, { state, holds, waits }: SessionLocks): SessionSeen {
  const user = textOf(columns.user_name)
  const application = textOf(columns.application)
  const statement = textOf(columns.statement)
  const transactionMs = msOf(columns.transaction_ms)
  return {
    id: String(columns.id),
    ...(user === undefined ? {} : { user }),
    ...(application === undefined ? {} : { application }),
    state: waits === undefined ? state : 'waiting',
    ...(transactionMs === undefined ? {} : { transactionMs }),
    ...(statement === undefined ? {} : { statement }),
    holds: distinct(holds, ({ kind, mode, on }) => `${kind} ${mode} ${on}`),
    ...(waits === undefined ? {} : { waits }),
  }
}

export function waitSeen(lock: LockSeen, waitedMs: unknown, blockedBy: Iterable<string>): WaitSeen {
  const ms = msOf(waitedMs)
  return { lock, ...(ms === undefined ? {} : { waitedMs: ms }), blockedBy: [...new Set(blockedBy)] }
}

export function lockSeen({ key, ...lock }: Omit<LockSeen, 'key'> & { key?: string | undefined }): LockSeen {
  return key === undefined ? lock : { ...lock, key }
}

/** Text that says something. Some servers give a text as bytes. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value.toString()
  if (value instanceof Uint8Array) return textOf(Buffer.from(value).toString())
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}

/** Two clocks of one server may differ by a little: nothing has lasted less than no time. */
function msOf(value: unknown): number | undefined {
  return value === null || value === undefined ? undefined : Math.max(0, Math.round(Number(value)))
}

export function groupBy<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group === undefined) groups.set(keyOf(item), [item])
    else group.push(item)
  }
  return groups
}

function distinct<T>(items: Iterable<T>, keyOf: (item: T) => string): readonly T[] {
  return [...groupBy(items, keyOf).values()].flatMap(([first]) => (first === undefined ? [] : [first]))
}
