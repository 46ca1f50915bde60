import type { SessionSeen } from '../../core/inspection.ts'
import type { Row } from '../../core/statement.ts'
import { isAtLeast } from '../../core/version.ts'
import { sessionsWith } from '../inspect-found.ts'
import { sessionNumber } from '../inspect-id.ts'
import { leaseQuestion, readLeases } from '../inspect-lease.ts'
import { sql } from '../sql.ts'
import type { Inspector, Question } from '../tools.ts'
import { blockQuestions, reportedLocks, withTransactions } from './inspect-blocks.ts'
import { metadataLocks, metadataQuestion } from './inspect-metadata.ts'
import { reportedTransactions } from './inspect-report.ts'
import { rowLocks, rowQuestions } from './inspect-rows.ts'
import { nowMs } from './lease.ts'

/** The timers count in picoseconds; that of an event which has not ended tells how long it has lasted. */
const ms = (timer: string): string => `${timer} DIV 1000000000`

/** Without a database of its own, a connection has all in view. */
export const isInScope = (scope: 'database' | 'server', database: string): string =>
  scope === 'server' ? '' : ` AND COALESCE(${database} = DATABASE(), DATABASE() IS NULL)`

const sessions = (scope: 'database' | 'server'): Question => ({
  ask: sql(`
SELECT t.PROCESSLIST_ID AS id, t.PROCESSLIST_USER AS user_name, t.PROCESSLIST_COMMAND AS command,
       COALESCE(t.PROCESSLIST_INFO, s.SQL_TEXT) AS statement, ${ms('x.TIMER_WAIT')} AS transaction_ms,
       CASE WHEN s.END_EVENT_ID IS NULL THEN ${ms('s.TIMER_WAIT')} END AS statement_ms,
       (SELECT MAX(c.ATTR_VALUE) FROM performance_schema.session_connect_attrs c
         WHERE c.PROCESSLIST_ID = t.PROCESSLIST_ID AND c.ATTR_NAME = 'program_name') AS application
  FROM performance_schema.threads t
  LEFT JOIN performance_schema.events_transactions_current x ON x.THREAD_ID = t.THREAD_ID AND x.STATE = 'ACTIVE'
  LEFT JOIN performance_schema.events_statements_current s ON s.THREAD_ID = t.THREAD_ID AND s.NESTING_EVENT_LEVEL = 0
 WHERE t.TYPE = 'FOREGROUND' AND t.PROCESSLIST_ID <> CONNECTION_ID()${isInScope(scope, 't.PROCESSLIST_DB')}
 ORDER BY t.PROCESSLIST_ID`),
  unknown: 'sessions: this user may not read performance_schema',
})

export const inspector: Inspector = {
  questions: (scope, version) => ({
    sessions: sessions(scope),
    ...(isAtLeast(version, [8, 0, 0]) ? rowQuestions : blockQuestions),
    metadata: metadataQuestion,
    leases: leaseQuestion(nowMs),
  }),
  read: (replies) => {
    const transactions = reportedTransactions(replies.report)
    const rows = [
      ...rowLocks(replies.rowLocks, replies.rowWaits),
      ...reportedLocks(transactions, replies.blocks),
    ]
    const found = [...rows, ...metadataLocks(replies.metadata ?? [], rows)]
    return {
      sessions: sessionsWith(withTransactions(replies.sessions, transactions), found, stateOf),
      leases: readLeases(replies.leases),
      unseen: replies.metadata?.length === 0 ? [noMetadata] : [],
    }
  },
  blindSpots: [],
  showsWaiting: true,
  self: sql('SELECT CONNECTION_ID() AS id'),
  kill: (id) => sql(`KILL CONNECTION ${sessionNumber(id)}`),
  cancel: (id) => sql(`KILL QUERY ${sessionNumber(id)}`),
}

const noMetadata =
  'user locks and metadata locks: performance_schema does not record them (instrument wait/lock/metadata/sql/mdl)'

export function stateOf({ command, transaction_ms: transaction }: Row): SessionSeen['state'] {
  if (command !== 'Sleep') return 'active'
  return transaction === null || transaction === undefined ? 'idle' : 'idle-in-transaction'
}
