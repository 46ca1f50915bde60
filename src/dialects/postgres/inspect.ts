import type { SessionSeen } from '../../core/inspection.ts'
import type { Row } from '../../core/statement.ts'
import { sessionNumber } from '../inspect-id.ts'
import { leaseQuestion, readLeases } from '../inspect-lease.ts'
import { groupBy, sessionSeen, textOf, waitSeen } from '../inspect-session.ts'
import { sql } from '../sql.ts'
import type { Inspector } from '../tools.ts'
import { describeLock } from './inspect-lock.ts'
import { lockList } from './inspect-locks.ts'
import { keyNames } from './inspect-names.ts'
import { nowMs } from './lease.ts'
import { isFalse, isTrue } from './boolean.ts'

/** What stands in the place of another role's statement. */
const hidden = '<insufficient privilege>'

export const inspector: Inspector = {
  questions: (scope, version) => ({
    locks: { ask: lockList(scope, version), unknown: 'sessions: this role may not read pg_locks' },
    leaseTable: {
      ask: sql("SELECT 1 AS made WHERE to_regclass('_leases') IS NOT NULL"),
      unknown: 'whether there are leases',
    },
    leases: { ...leaseQuestion(nowMs), onlyIf: 'leaseTable' },
  }),
  read: ({ locks = [], leases }) => ({
    sessions: readSessions(locks),
    leases: readLeases(leases),
    unseen: locks.some(({ statement }) => statement === hidden)
      ? ['what other roles run, and for how long: this role is no member of pg_read_all_stats']
      : [],
  }),
  blindSpots: ['rows that nobody waits for: PostgreSQL marks them in the table, and lists them nowhere'],
  showsWaiting: true,
  self: sql('SELECT pg_backend_pid()::text AS id'),
  kill: (id) => sql('SELECT pg_terminate_backend($1::int) AS done', Number(sessionNumber(id))),
  cancel: (id) => sql('SELECT pg_cancel_backend($1::int) AS done', Number(sessionNumber(id))),
}

function readSessions(rows: readonly Row[]): readonly SessionSeen[] {
  const names = keyNames(rows)
  return [...groupBy(rows, ({ id }) => String(id)).values()].map((own) => {
    const waiting = own.find(({ granted }) => isFalse(granted))
    const { statement, ...session } = own[0] ?? {}
    return sessionSeen(statement === hidden ? session : { ...session, statement }, {
      state: stateOf(session),
      holds: own.filter(isHeld).map((row) => describeLock(row, [], names)),
      waits:
        waiting && waitSeen(describeLock(waiting, own, names), waiting.waited_ms, blockers(waiting, rows)),
    })
  })
}

function isHeld({ granted, locktype }: Row): boolean {
  return isTrue(granted) && locktype !== 'transactionid'
}

/** A prepared transaction has no process: the server calls it 0, and so all of them. */
function blockers({ blocked_by: list, thing }: Row, rows: readonly Row[]): readonly string[] {
  const ids = (textOf(list) ?? '').split(',')
  const prepared = rows.filter((row) => isTrue(row.is_prepared) && isTrue(row.granted) && row.thing === thing)
  return ids.flatMap((id) => (id === '0' ? prepared.map((row) => String(row.id)) : id === '' ? [] : [id]))
}

function stateOf({ state, is_prepared: isPrepared }: Row): SessionSeen['state'] {
  if (isTrue(isPrepared) || String(state).startsWith('idle in transaction')) return 'idle-in-transaction'
  return state === 'idle' ? 'idle' : 'active'
}
