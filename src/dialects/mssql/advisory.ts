import type { CheckedAdvisory } from '../../core/check-request.ts'
import { LockUsageError } from '../../core/errors.ts'
import { canonicalKey, isRawKey, type LockKey } from '../../core/key.ts'
import { waitingBy, type PlanDraft } from '../../core/plan.ts'
import type { Answers, SqlStatement } from '../../core/statement.ts'
import { native, unsupported, type Unsupported } from '../../core/support.ts'

const granted: Answers = {
  column: 'answer',
  meaning: {
    0: 'granted',
    1: 'granted',
    '-1': 'busy',
    '-2': 'cancelled',
    '-3': 'deadlock',
    '-999': 'failed',
  },
}
const released: Answers = { column: 'answer', meaning: { 0: 'released', '-999': 'not-held' } }

/**
 * `sp_getapplock`, always for the principal `public`: the principal is part of the lock's identity. The timeout is
 * always told, since the default is whatever LOCK_TIMEOUT the connection has.
 *
 * A SNAPSHOT transaction might fix what it sees before the lock is granted, so there the lock is taken before BEGIN.
 *
 * @see https://learn.microsoft.com/sql/relational-databases/system-stored-procedures/sp-getapplock-transact-sql
 */
export function advisory(request: CheckedAdvisory): PlanDraft | Unsupported {
  const name = resourceName(request.key)
  if (name === undefined) return unsupported('application locks are named by text', 'use rawNameKey')
  const inTransaction = request.scope === 'transaction' && request.isolation !== 'snapshot'
  const owner = inTransaction ? 'Transaction' : 'Session'
  const shared = { support: native('name'), scope: request.scope, waiting: waitingBy('server', request.wait) }
  const take = getAppLock(name, owner, request)
  if (inTransaction) return { ...shared, inTransaction: [take] }
  return { ...shared, beforeBegin: [take], afterEnd: [releaseAppLock(name)] }
}

function getAppLock(name: string, owner: string, { mode, wait }: CheckedAdvisory): SqlStatement {
  const timeout = wait === 'block' ? -1 : wait === 'nowait' ? 0 : wait.timeoutMs
  const lockMode = mode === 'shared' ? 'Shared' : 'Exclusive'
  return {
    sql:
      `DECLARE @answer int; EXEC @answer = sp_getapplock @Resource = @p1, @LockMode = '${lockMode}', ` +
      `@LockOwner = '${owner}', @LockTimeout = @p2, @DbPrincipal = 'public'; SELECT @answer AS answer`,
    params: [name, timeout],
    answers: granted,
  }
}

function releaseAppLock(name: string): SqlStatement {
  return {
    sql:
      "DECLARE @answer int; EXEC @answer = sp_releaseapplock @Resource = @p1, @LockOwner = 'Session', " +
      "@DbPrincipal = 'public'; SELECT @answer AS answer",
    params: [name],
    answers: released,
  }
}

function resourceName(key: LockKey): string | undefined {
  if (!isRawKey(key)) return canonicalKey(key).name
  if (key.raw !== 'name') return undefined
  // The procedure cuts a longer name without a word, and two names would become one.
  if (key.name.length > 255)
    throw new LockUsageError('key', "the raw name is longer than the server's 255 characters")
  return key.name
}
