import type { Row } from '../../core/statement.ts'
import { textOf } from '../inspect-session.ts'
import { sql } from '../sql.ts'
import type { DeadlockFound, DeadlockReader, Question } from '../tools.ts'
import { deadlockGraph } from './deadlock-graph.ts'

const self: Question = { ask: sql('SELECT @@SPID AS id'), unknown: 'whose deadlock it was' }

/**
 * The newest deadlocks in the ring buffer of `system_health`, a session of extended events that every server runs.
 *
 * @see https://learn.microsoft.com/sql/relational-databases/sql-server-deadlocks-guide
 */
const graphs: Question = {
  ask: sql(
    "SELECT TOP (10) d.report.value('@timestamp', 'datetime2') AS found_at, " +
      'DATEDIFF_BIG(millisecond, ' +
      "d.report.value('@timestamp', 'datetime2'), SYSUTCDATETIME()) AS ago_ms, " +
      "CAST(d.report.query('.') AS nvarchar(max)) AS graph FROM (SELECT CAST(t.target_data AS xml) AS target_data " +
      'FROM sys.dm_xe_session_targets AS t INNER JOIN sys.dm_xe_sessions AS s ON s.address = t.event_session_address ' +
      "WHERE s.name = N'system_health' AND t.target_name = N'ring_buffer') AS x " +
      `CROSS APPLY x.target_data.nodes('RingBufferTarget/event[@name="xml_deadlock_report"]') AS d(report) ` +
      'ORDER BY found_at DESC',
  ),
  unknown:
    'who waited for whom: this login lacks VIEW SERVER STATE, or from 2022 on VIEW SERVER PERFORMANCE STATE',
}

export const deadlocks: DeadlockReader = {
  questions: () => ({ self, graphs }),
  read: ({ self: asker, graphs: rows }, { sinceMs }) => {
    if (rows === undefined) return { sessions: [], unseen: [] }
    const id = textOf(asker?.[0]?.id)
    const found = rows
      .filter(({ ago_ms: ago }) => Number(ago ?? 0) <= sinceMs + roundingMs)
      .map(foundIn)
      .find(({ sessions }) => sessions.some((one) => one.isVictim && one.id === id))
    return found ?? { sessions: [], unseen: [missing] }
  },
  latest: {
    questions: { graphs },
    read: ({ graphs: rows = [] }) => ({
      deadlocks: rows.map(foundIn).filter(({ sessions }) => sessions.length > 0),
      unseen: [],
    }),
  },
}

const roundingMs = 100

const missing =
  'who waited for whom: the session system_health has no deadlock of this session yet. It is written a while after'

function foundIn({ graph }: Row): DeadlockFound {
  const { at, sessions } = deadlockGraph(textOf(graph) ?? '')
  return { ...(at === undefined ? {} : { at }), sessions, unseen: [] }
}
