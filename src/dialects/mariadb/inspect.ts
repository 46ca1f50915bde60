import type { Row } from '../../core/statement.ts'
import { sessionsWith, type LockFound } from '../inspect-found.ts'
import { leaseQuestion, readLeases } from '../inspect-lease.ts'
import { blockQuestions, reportedLocks, withTransactions } from '../mysql/inspect-blocks.ts'
import { metadataLocks, metadataQuestion } from '../mysql/inspect-metadata.ts'
import { reportedTransactions } from '../mysql/inspect-report.ts'
import { inspector as ofTheFamily, isInScope, stateOf } from '../mysql/inspect.ts'
import { nowMs } from '../mysql/lease.ts'
import { sql } from '../sql.ts'
import type { Inspector, Question, Replies } from '../tools.ts'
import { pluginCheck, pluginQuestion, pluginRows } from './inspect-plugin.ts'
import { statedLocks, userLockQuestion } from './inspect-states.ts'

const sessions = (scope: 'database' | 'server'): Question => ({
  ask: sql(
    'SELECT ID AS id, USER AS user_name, COMMAND AS command, STATE AS state, INFO AS statement, ' +
      "CASE WHEN COMMAND <> 'Sleep' THEN TIME_MS END AS statement_ms FROM information_schema.PROCESSLIST " +
      `WHERE ID <> CONNECTION_ID()${isInScope(scope, 'DB')} ORDER BY ID`,
  ),
  unknown: 'sessions: this user may not read the list of processes',
})

/** What the server knows besides, when its performance_schema is on. */
const details: Question = {
  ask: sql(`
SELECT t.PROCESSLIST_ID AS id, x.TIMER_WAIT DIV 1000000000 AS transaction_ms,
       (SELECT MAX(c.ATTR_VALUE) FROM performance_schema.session_connect_attrs c
         WHERE c.PROCESSLIST_ID = t.PROCESSLIST_ID AND c.ATTR_NAME = 'program_name') AS application,
       (SELECT MAX(s.SQL_TEXT) FROM performance_schema.events_statements_current s
         WHERE s.THREAD_ID = t.THREAD_ID AND s.NESTING_EVENT_ID IS NULL) AS statement
  FROM performance_schema.threads t
  LEFT JOIN performance_schema.events_transactions_current x ON x.THREAD_ID = t.THREAD_ID AND x.STATE = 'ACTIVE'
 WHERE t.PROCESSLIST_ID IS NOT NULL`),
  unknown: 'what clients call themselves: this user may not read performance_schema',
}

/** The performance_schema is off by default, so nothing rests on it alone. */
export const inspector: Inspector = {
  ...ofTheFamily,
  questions: (scope) => ({
    sessions: sessions(scope),
    details,
    ...blockQuestions,
    userLocks: userLockQuestion,
    metadata: metadataQuestion,
    pluginCheck,
    plugin: pluginQuestion,
    leases: leaseQuestion(nowMs),
  }),
  read: (replies) => {
    const transactions = reportedTransactions(replies.report)
    const rows = reportedLocks(transactions, replies.blocks)
    const known = withTransactions(detailed(replies), transactions)
    const found = [...rows, ...otherLocks(replies, rows)]
    return {
      sessions: sessionsWith(known, found, stateOf),
      leases: readLeases(replies.leases),
      unseen: replies.metadata?.length === 0 && !hasPlugin(replies) ? [noList] : [],
    }
  },
  blindSpots: ['the tables of row locks that nobody waits for: MariaDB only counts them'],
}

const noList =
  'user locks that nobody waits for, and the names of metadata locks: performance_schema is off or does not record ' +
  'them (instrument wait/lock/metadata/sql/mdl), and the plugin metadata_lock_info is not installed'

function hasList({ metadata }: Replies): boolean {
  return metadata !== undefined && metadata.length > 0
}

function hasPlugin({ pluginCheck: plugin }: Replies): boolean {
  return plugin !== undefined && plugin.length > 0
}

function otherLocks(replies: Replies, rows: readonly LockFound[]): readonly LockFound[] {
  if (hasList(replies)) return metadataLocks(replies.metadata ?? [], rows)
  const listed = metadataLocks(pluginRows(replies.plugin), rows)
  return [...listed, ...statedLocks(replies.sessions ?? [], replies.userLocks)]
}

function detailed({ sessions: rows = [], details: more = [] }: Replies): readonly Row[] {
  const byId = new Map(more.map((row) => [String(row.id), row]))
  return rows.map((row) => {
    const { statement, ...rest } = byId.get(String(row.id)) ?? {}
    return { ...row, ...rest, statement: row.statement ?? statement }
  })
}
