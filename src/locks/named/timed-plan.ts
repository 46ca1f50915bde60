import type { Plan } from '../../core/plan.ts'
import type { Dialect } from '../../dialects/dialect.ts'
import type { CheckedLock } from './lock-options.ts'

/** How long a lock may be waited for. */
export interface LockTime {
  /** As it was asked for; a time of its own is what is left of it. */
  readonly wait: CheckedLock['wait']
  /** What the transaction gives each lock that has no time of its own. */
  readonly lockTimeoutMs: number | undefined
  /** What is left of the budget. */
  readonly leftMs: number
  /** Whether the wait for a turn has used up some of that, so that what the transaction tells the server is too long. */
  readonly isShortened?: boolean
}

/**
 * Plans locks with their time in their own statements, where nothing else tells the server: it has no limit for named
 * locks (MySQL, MariaDB), or the lock is taken before the transaction begins, which has the limit.
 */
export function planInTime(
  dialect: Dialect,
  { wait, lockTimeoutMs = Infinity, leftMs, isShortened = false }: LockTime,
  plan: (wait: CheckedLock['wait']) => readonly Plan[],
): readonly Plan[] {
  if (typeof wait === 'object') return plan({ timeoutMs: Math.min(wait.timeoutMs, leftMs) })
  const asAsked = plan(wait)
  const ms = Math.min(lockTimeoutMs, leftMs)
  if (ms === Infinity || !(isShortened || isUntold(dialect, asAsked)) || !isServers(asAsked)) return asAsked
  const timed = plan({ timeoutMs: Math.max(1, Math.ceil(ms)) })
  return lockTimeoutMs < Infinity ? timed : unlessCostly(timed, asAsked)
}

function isServers([first]: readonly Plan[]): boolean {
  if (first === undefined) return false
  const { by, timeoutMs, isRefusal } = first.waiting
  return by === 'server' && timeoutMs === undefined && isRefusal !== true
}

function isUntold({ transaction }: Dialect, [first]: readonly Plan[]): boolean {
  return transaction.lowerLockTimeout === undefined || (first?.beforeBegin.length ?? 0) > 0
}

/** For a budget, which ends on the client too, no time is told that takes statements of its own. */
function unlessCostly(timed: readonly Plan[], plans: readonly Plan[]): readonly Plan[] {
  return timed.some(({ setting }) => setting !== undefined) ? plans : timed
}
