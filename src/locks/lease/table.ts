import { inWords } from '../../core/in-words.ts'
import { backoffMs } from '../../core/backoff.ts'
import { deadlineIn, pause } from '../../core/deadline.ts'
import { isRetryable } from '../../core/error-kind.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { LeaseKeeper } from '../../dialects/lease.ts'
import { callLease, isAnswered } from './call.ts'
import { limitTo } from '../limit.ts'
import type { LeasePort } from '../port.ts'

/** The table of leases, made only when it turns out to be missing: a role that may not make tables need not. */
export interface LeaseTable {
  /** Whether this object has made it. */
  readonly isMade: () => boolean
  /** Makes it, once for all who ask. Rejects where it cannot be made; the next call tries again. */
  readonly make: (missing: Missing) => Promise<void>
  /** Makes it if it can be made, once. */
  readonly prepare: () => Promise<void>
  /** Adds what is missing to a table that the engine makes by itself, once and behind the caller's back. */
  readonly noteUse: (dialect: LeaseKeeper) => void
}

/** Why the table seems to be missing. */
export interface Missing {
  readonly dialect: LeaseKeeper
  readonly error: unknown
}

const tries = 3
const patienceMs = 30_000

export function createLeaseTable(port: LeasePort): LeaseTable {
  let making: Promise<void> | undefined
  let isMade = false
  let isUsed = false
  let prepared: Promise<void> | undefined
  return {
    noteUse: ({ lease }) => {
      if (isUsed || lease.isMadeByUse !== true) return
      isUsed = true
      // cleaning up is all that fails without it, and nobody waits for that
      makeTrying(port).catch(() => {})
    },
    isMade: () => isMade,
    prepare: () => {
      // without the right to make it, it may be there all the same
      prepared ??= makeTrying(port).catch(() => void (prepared = undefined))
      return prepared
    },
    make: async (missing) => {
      making ??= makeTrying(port)
      try {
        await making
        isMade = true
      } catch (error) {
        making = undefined
        // what is wrong with the connection is wrong with the lease, too
        throw error instanceof LockUsageError ? error : cannotBeMade(missing, error)
      }
    },
  }
}

/** Two processes that make it at once may get in each other's way: whoever lost has only to try again. */
async function makeTrying(port: LeasePort): Promise<void> {
  const patience = deadlineIn(patienceMs)
  for (let attempt = 1; ; attempt += 1) {
    const limit = limitTo({ ms: patienceMs })
    const { signal } = limit
    const reply = await callLease(port, { statements: ({ schema }) => schema, signal })
    limit.end()
    if (isAnswered(reply)) return
    if (isRetryable(reply.kind) ? patience.isPast() : attempt >= tries) throw reply.error
    await pause(backoffMs(attempt, { baseMs: 50 }))
  }
}

function cannotBeMade({ dialect, error }: Missing, cause: unknown): LockUsageError {
  return new LockUsageError(
    'schema',
    `a lease cannot be asked for (${inWords(error)}), and its table cannot be made (${inWords(cause)}): ` +
      `run what \`holdfast schema ${dialect.name}\` prints, with the right to do so`,
    { cause },
  )
}
