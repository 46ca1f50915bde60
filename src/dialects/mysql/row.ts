import type { CheckedRow } from '../../core/check-request.ts'
import type { PlanDraft } from '../../core/plan.ts'
import { emulated, native, stronger, type Supported, type Unsupported } from '../../core/support.ts'
import { readTarget } from '../sql.ts'
import { gapLocksDoNotExclude, noSkipLocked } from './refusals.ts'
import { syntax } from './syntax.ts'
import { lockWaitSeconds, wholeSeconds } from './timeout.ts'

/** What the servers of the family, and their versions, do differently with locking reads. */
export interface RowTraits {
  readonly shareClause: 'FOR SHARE' | 'LOCK IN SHARE MODE'
  readonly hasOf: boolean
  readonly hasNowait: boolean
  readonly hasSkipLocked: boolean
  /** `WAIT n` belongs to the statement, so nothing has to be put back after it. */
  readonly hasWaitClause: boolean
  /** Seen on MySQL 9.7: a DELETE also deletes what a sub-query of its condition, behind IN or EXISTS, reads FOR UPDATE. */
  readonly deletesLockedSubqueries: boolean
}

export function innodbRow(request: CheckedRow, traits: RowTraits): PlanDraft | Unsupported {
  if (request.protectAbsence) return gapLocksDoNotExclude
  if (request.wait === 'skip' && !traits.hasSkipLocked) return noSkipLocked
  const { words, support, ...waiting } = waitChoice(request.wait, traits)
  const clause = [
    request.mode === 'exclusive' ? 'FOR UPDATE' : traits.shareClause,
    traits.hasOf && request.of.length > 0 && `OF ${request.of.map(syntax.quote).join(', ')}`,
    words,
  ]
    .filter(Boolean)
    .join(' ')
  const read = request.target && readTarget(syntax, request.target, { clause })
  return {
    support: moreThanAsked(request, traits) ?? lessThanSeems(request) ?? support,
    ...waiting,
    query: {
      style: 'clause',
      clause,
      ...(read && { read }),
      ...(traits.deletesLockedSubqueries && request.mode === 'exclusive' && { isUnsafeInDelete: true }),
    },
  }
}

type WaitChoice = Pick<PlanDraft, 'waiting' | 'setting' | 'support'> & { readonly words?: string }

function waitChoice(wait: CheckedRow['wait'], traits: RowTraits): WaitChoice {
  if (wait === 'block') return { waiting: { by: 'server' }, support: native('row') }
  if (wait === 'skip') return { words: 'SKIP LOCKED', waiting: { by: 'nobody' }, support: native('row') }
  if (wait === 'nowait' && traits.hasNowait)
    return { words: 'NOWAIT', waiting: { by: 'nobody' }, support: native('row') }
  const timeoutMs = wait === 'nowait' ? 1 : wait.timeoutMs
  if (timeoutMs >= 1000) return serverWait(timeoutMs, traits)
  if (!traits.hasNowait) {
    const shortest = serverWait(1000, traits)
    return {
      ...shortest,
      waiting: { ...shortest.waiting, isRefusal: wait === 'nowait' },
      support: emulated('row', 'the shortest wait for a row is one second'),
    }
  }
  return {
    words: 'NOWAIT',
    waiting: { by: 'statement', timeoutMs },
    support: emulated(
      'row',
      'InnoDB counts in whole seconds: a shorter wait is a NOWAIT that is repeated, without a place in the queue',
    ),
  }
}

function serverWait(timeoutMs: number, { hasWaitClause }: RowTraits): WaitChoice {
  const seconds = wholeSeconds(timeoutMs)
  return {
    ...(hasWaitClause ? { words: `WAIT ${seconds}` } : { setting: lockWaitSeconds(seconds, 'call') }),
    waiting: { by: 'server', timeoutMs: seconds * 1000 },
    support: native('row', 'InnoDB counts in whole seconds: the time is rounded up'),
  }
}

function moreThanAsked(request: CheckedRow, { hasOf }: RowTraits): Supported | undefined {
  if (request.of.length > 0 && !hasOf) {
    return stronger('row', 'there is no OF: the rows of every table in the query are locked')
  }
  const isPlain = request.strength === 'update' || request.strength === 'share'
  return isPlain ? undefined : stronger('row', `InnoDB has no ${request.strength}: the whole row is locked`)
}

/** Seen on MySQL 9.7 and MariaDB 10.11: another session then locks the row itself by its primary key. */
function lessThanSeems({ mode, target, wait }: CheckedRow): Supported | undefined {
  if (mode === 'exclusive' || target !== undefined || typeof wait === 'object') return undefined
  return native(
    'row',
    'through an index that covers the query only its entry is locked: read a column that is not in it',
  )
}
