import type { CheckedAdvisory } from '../../core/check-request.ts'
import { LockUsageError } from '../../core/errors.ts'
import { canonicalKey, isRawKey, type LockKey } from '../../core/key.ts'
import type { PlanDraft, Waiting } from '../../core/plan.ts'
import type { Answers } from '../../core/statement.ts'
import { native, stronger, type Unsupported } from '../../core/support.ts'
import { namesOnly } from './refusals.ts'
import { wholeSeconds } from './timeout.ts'

/** What the servers of the family do differently with GET_LOCK. */
export interface UserLockTraits {
  readonly hasFractionalSeconds: boolean
  readonly maxNameLength: number
}

const granted: Answers = { column: 'answer', meaning: { 1: 'granted', 0: 'busy', null: 'failed' } }
const released: Answers = { column: 'answer', meaning: { 1: 'released', 0: 'not-held', null: 'not-held' } }

/** "For ever" is -1 on MySQL and an error on MariaDB; a year is the same on both. */
const yearInSeconds = 31_536_000

/**
 * `GET_LOCK` before BEGIN and `RELEASE_LOCK` after the end, on one connection, whatever the scope.
 *
 * The lock knows nothing of transactions: released before COMMIT, it lets the next holder read what was there before.
 */
export function userLock(request: CheckedAdvisory, traits: UserLockTraits): PlanDraft | Unsupported {
  const name = lockName(request.key, traits)
  if (name === undefined) return namesOnly
  const { seconds, waiting } = waitSeconds(request.wait, traits)
  const isShared = request.mode === 'shared'
  return {
    support: isShared
      ? stronger('name', 'user locks cannot be shared: the lock is exclusive')
      : native('name'),
    mode: 'exclusive',
    scope: request.scope,
    waiting,
    beforeBegin: [{ sql: 'SELECT GET_LOCK(?, ?) AS answer', params: [name, seconds], answers: granted }],
    afterEnd: [{ sql: 'SELECT RELEASE_LOCK(?) AS answer', params: [name], answers: released }],
  }
}

function lockName(key: LockKey, { maxNameLength }: UserLockTraits): string | undefined {
  if (!isRawKey(key)) return canonicalKey(key).name
  if (key.raw !== 'name') return undefined
  if (Buffer.byteLength(key.name) > maxNameLength) {
    throw new LockUsageError('key', `the raw name is longer than the server's ${maxNameLength} bytes`)
  }
  return key.name
}

function waitSeconds(
  wait: CheckedAdvisory['wait'],
  { hasFractionalSeconds }: UserLockTraits,
): { readonly seconds: number; readonly waiting: Waiting } {
  if (wait === 'block') return { seconds: yearInSeconds, waiting: { by: 'server' } }
  if (wait === 'nowait') return { seconds: 0, waiting: { by: 'nobody' } }
  const { timeoutMs } = wait
  if (hasFractionalSeconds) return { seconds: timeoutMs / 1000, waiting: { by: 'server', timeoutMs } }
  // A fraction is rounded to the nearest second, and so to no wait at all: short waits are repeated tries.
  if (timeoutMs < 1000) return { seconds: 0, waiting: { by: 'statement', timeoutMs } }
  const seconds = wholeSeconds(timeoutMs)
  return { seconds, waiting: { by: 'server', timeoutMs: seconds * 1000 } }
}
