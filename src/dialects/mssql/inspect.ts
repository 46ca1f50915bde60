import type { SessionSeen } from '../../core/inspection.ts'
import type { Row } from '../../core/statement.ts'
import { sessionsWith, type LockFound } from '../inspect-found.ts'
import { sessionNumber } from '../inspect-id.ts'
import { leaseQuestion, readLeases } from '../inspect-lease.ts'
import { groupBy, textOf } from '../inspect-session.ts'
import { sql } from '../sql.ts'
import type { Inspector } from '../tools.ts'
import { describeLock } from './inspect-lock.ts'
import { lockQuestion, sessionQuestion, waitQuestion } from './inspect-views.ts'
import { nowMs } from './lease.ts'

export const inspector: Inspector = {
  questions: (scope) => ({
    sessions: sessionQuestion(scope),
    locks: lockQuestion,
    waits: waitQuestion,
    leases: leaseQuestion(nowMs),
  }),
  read: ({ sessions = [], locks = [], waits = [], leases }) => ({
    sessions: sessionsWith(sessions, found(locks, waits), stateOf),
    leases: readLeases(leases),
  }),
  blindSpots: [],
  showsWaiting: true,
  self: sql('SELECT @@SPID AS id'),
  kill: (id) => sql(`KILL ${sessionNumber(id)}`),
}

function found(locks: readonly Row[], waits: readonly Row[]): readonly LockFound[] {
  const byWaiter = groupBy(waits, ({ id }) => String(id))
  return [...groupBy(locks, ({ id }) => String(id)).entries()].flatMap(([session, own]) => {
    const hasRows = own.some((row) => (row.type === 'KEY' || row.type === 'RID') && row.status === 'GRANTED')
    return own
      .filter((row) => row.status !== 'GRANTED' || !isNoise(row, hasRows))
      .map((row) => {
        const lock = describeLock(row)
        return row.status === 'GRANTED'
          ? { session, lock }
          : { session, lock, wait: waitOf(byWaiter.get(session)) }
      })
  })
}

function waitOf(waits: readonly Row[] = []): NonNullable<LockFound['wait']> {
  return {
    blockedBy: waits.flatMap(({ blocker }) => blockerName(textOf(blocker)) ?? []),
    waitedMs: waits[0]?.waited_ms,
  }
}

/** Below 0 it is nobody's session. */
function blockerName(number: string | undefined): string | undefined {
  if (number === '-2') return 'an orphaned distributed transaction'
  if (number === '-3') return 'a deferred recovery transaction'
  return number?.startsWith('-') === true ? undefined : number
}

/** Every session shares its database; an intention only announces the locks on rows that are listed beside it. */
function isNoise({ type, mode }: Row, hasRows: boolean): boolean {
  return type === 'DATABASE' || type === 'METADATA' || (hasRows && /^I[SXU]$/.test(String(mode)))
}

function stateOf({ state, open_transactions: open }: Row): SessionSeen['state'] {
  if (state === 'running') return 'active'
  return Number(open) > 0 ? 'idle-in-transaction' : 'idle'
}
