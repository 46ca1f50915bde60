import type { CheckedAdvisory } from '../../core/check-request.ts'
import { canonicalKey, isRawKey, type LockKey } from '../../core/key.ts'
import { waitingBy, type PlanDraft } from '../../core/plan.ts'
import type { Answers, SqlStatement } from '../../core/statement.ts'
import { isUnsupported, native, unsupported, type Unsupported } from '../../core/support.ts'
import { sql } from '../sql.ts'
import { lockTimeout } from './timeout.ts'

// as text, where the application has taken the driver's parsers away
const granted: Answers = {
  column: 'answer',
  meaning: { true: 'granted', t: 'granted', false: 'busy', f: 'busy' },
}
const released: Answers = {
  column: 'answer',
  meaning: { true: 'released', t: 'released', false: 'not-held', f: 'not-held' },
}

/**
 * `pg_advisory_*`.
 *
 * From REPEATABLE READ up, the statement that waits for the lock has already taken the transaction's snapshot: after
 * the wait the body would read what was there before it. There the lock is taken before BEGIN on the same
 * connection, and given back after the end.
 */
export function advisory(request: CheckedAdvisory): PlanDraft | Unsupported {
  const key = keyArguments(request.key)
  if (isUnsupported(key)) return key
  const keepsSnapshot = request.isolation !== undefined && !request.isolation.startsWith('read ')
  const inTransaction = request.scope === 'transaction' && !keepsSnapshot
  const take = named(lockCall(key, request, inTransaction ? 'xact_' : ''), request.key)
  const shared = {
    support: native('name'),
    scope: request.scope,
    waiting: waitingBy('server', request.wait),
    ...lockTimeout(request.wait, inTransaction ? 'LOCAL' : 'SESSION'),
  }
  if (inTransaction) return { ...shared, inTransaction: [take] }
  return { ...shared, beforeBegin: [take], afterEnd: [unlockCall(key, request)] }
}

function lockCall(key: SqlStatement, { mode, wait }: CheckedAdvisory, xact: string): SqlStatement {
  const suffix = mode === 'shared' ? '_shared' : ''
  return wait === 'nowait'
    ? {
        sql: `SELECT pg_try_advisory_${xact}lock${suffix}(${key.sql}) AS answer`,
        params: key.params,
        answers: granted,
      }
    : { sql: `SELECT pg_advisory_${xact}lock${suffix}(${key.sql})`, params: key.params }
}

function unlockCall(key: SqlStatement, { mode }: CheckedAdvisory): SqlStatement {
  const suffix = mode === 'shared' ? '_shared' : ''
  return {
    sql: `SELECT pg_advisory_unlock${suffix}(${key.sql}) AS answer`,
    params: key.params,
    answers: released,
  }
}

/**
 * PostgreSQL knows the lock by its number alone: the comment tells people who look at what sessions run.
 *
 * The readable part of a name has no character that could end the comment.
 */
function named(statement: SqlStatement, key: LockKey): SqlStatement {
  if (isRawKey(key)) return statement
  const [prefix, readable] = canonicalKey(key).name.split(':')
  return { ...statement, sql: `${statement.sql} /* ${prefix}:${readable} */` }
}

/** The arguments as the lock functions take them: the one-number and the two-number keys are separate spaces. */
function keyArguments(key: LockKey): SqlStatement | Unsupported {
  if (!isRawKey(key)) return sql('$1::bigint', canonicalKey(key).int64)
  if (key.raw === 'int64') return sql('$1::bigint', key.value)
  if (key.raw === 'int32-pair') return sql('$1::int, $2::int', ...key.values)
  if (key.raw === 'hashtext') return sql('hashtext($1)', key.text)
  return unsupported(
    'PostgreSQL names advisory locks by number',
    'use rawInt64Key, rawInt32PairKey or rawHashtextKey',
  )
}
