import type { Inspection, InspectOptions, LockSeen, SessionSeen } from '../core/inspection.ts'
import { isRawKey } from '../core/key.ts'
import type { LockEvent } from '../events/shapes.ts'

/** What can be asked who waits: the locks of any adapter. */
export interface Inspecting {
  readonly inspect: (options?: InspectOptions) => Promise<Inspection>
}

/** It must be told while the lock is held, and the pool may have no connection for the question. */
const patienceMs = 1000

/** How many sessions wait for this lock. Undefined where that is not to be had in time. */
export async function waitersFor(locks: Inspecting, lock: LockEvent): Promise<number | undefined> {
  const { key } = lock
  try {
    const signal = AbortSignal.timeout(patienceMs)
    const { sessions } = await locks.inspect({ signal, ...(key !== undefined && { keys: [key] }) })
    return countWaiters(sessions, lock)
  } catch {
    return undefined
  }
}

/** Where the server does not say who a session is, whoever has a lock on the same table counts as the holder. */
function countWaiters(sessions: readonly SessionSeen[], lock: LockEvent): number | undefined {
  const isIt = matcherOf(lock)
  if (isIt === undefined) return undefined
  const holders = new Set(sessions.filter(({ holds }) => holds.some(isIt)).map(({ id }) => id))
  return sessions.filter(({ waits }) => waits?.blockedBy.some((id) => holders.has(id)) === true).length
}

/** Undefined where nobody can tell which lock it is: not every query says its table, and a key of your own has no text. */
function matcherOf({ kind, key, table }: LockEvent): ((seen: LockSeen) => boolean) | undefined {
  if (kind !== 'rows' && kind !== 'table') {
    if (key === undefined || isRawKey(key)) return undefined
    const text = [key].flat().map(String).join('.')
    return (seen) => seen.key === text
  }
  const last = table?.split('.').at(-1)
  if (last === undefined) return undefined
  const names = new RegExp(`(?:^|[ ."\`])${escaped(last)}(?=$|[ "\`])`)
  const kinds = kind === 'table' ? tableKinds : rowKinds
  return ({ kind: seenKind, on }) => kinds.has(seenKind) && names.test(on)
}

const rowKinds: ReadonlySet<LockSeen['kind']> = new Set(['row', 'table'])
/** MySQL shows LOCK TABLES as a lock on the table's definition. */
const tableKinds: ReadonlySet<LockSeen['kind']> = new Set(['table', 'metadata'])

function escaped(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)
}
