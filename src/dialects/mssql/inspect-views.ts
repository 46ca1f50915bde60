import { sql } from '../sql.ts'
import type { Question } from '../tools.ts'

type Scope = 'database' | 'server'

const lacksRight = 'this login lacks VIEW SERVER STATE, or from 2022 on VIEW SERVER PERFORMANCE STATE'

/**
 * The text is that of the batch: while a batch waits in a procedure, the request's own handle is the procedure's.
 *
 * @see https://learn.microsoft.com/sql/relational-databases/system-dynamic-management-views/sys-dm-exec-sessions-transact-sql
 */
export const sessionQuestion = (scope: Scope): Question => ({
  ask: sql(
    'SELECT s.session_id AS id, s.login_name AS user_name, s.program_name AS application, s.status AS state, ' +
      's.open_transaction_count AS open_transactions, b.text AS statement, t.transaction_ms ' +
      'FROM sys.dm_exec_sessions AS s ' +
      'LEFT JOIN sys.dm_exec_connections AS c ON c.session_id = s.session_id AND c.parent_connection_id IS NULL ' +
      'LEFT JOIN (SELECT o.session_id, ' +
      'MAX(DATEDIFF_BIG(millisecond, a.transaction_begin_time, SYSDATETIME())) AS transaction_ms ' +
      'FROM sys.dm_tran_session_transactions AS o ' +
      'JOIN sys.dm_tran_active_transactions AS a ON a.transaction_id = o.transaction_id ' +
      'GROUP BY o.session_id) AS t ON t.session_id = s.session_id ' +
      'OUTER APPLY sys.dm_exec_sql_text(c.most_recent_sql_handle) AS b ' +
      `WHERE s.is_user_process = 1 AND s.session_id <> @@SPID${scope === 'server' ? '' : ' AND s.database_id = DB_ID()'}`,
  ),
  unknown: `sessions: ${lacksRight}`,
})

/**
 * Counted by table: one transaction may lock thousands of rows. Names come from the catalog, read without waiting:
 * functions such as OBJECT_NAME wait for whoever is changing the table.
 *
 * @see https://learn.microsoft.com/sql/relational-databases/system-dynamic-management-views/sys-dm-tran-locks-transact-sql
 */
export const lockQuestion: Question = {
  ask: sql(
    'SELECT id, type, mode, status, description, entity, database_name, schema_name, table_name, index_name, ' +
      'COUNT(*) AS locks FROM (SELECT l.request_session_id AS id, l.resource_type AS type, l.request_mode AS mode, ' +
      'l.request_status AS status, l.resource_database_id AS database_id, DB_NAME(l.resource_database_id) AS database_name, ' +
      "CASE WHEN l.resource_type IN ('KEY', 'RID', 'PAGE') THEN NULL ELSE l.resource_description END AS description, " +
      'l.resource_associated_entity_id AS entity, n.name AS schema_name, o.name AS table_name, i.name AS index_name ' +
      'FROM sys.dm_tran_locks AS l ' +
      'LEFT JOIN sys.partitions AS p WITH (NOLOCK) ON p.hobt_id = l.resource_associated_entity_id ' +
      "AND l.resource_type IN ('KEY', 'RID', 'PAGE', 'HOBT') AND l.resource_database_id = DB_ID() " +
      'LEFT JOIN sys.objects AS o WITH (NOLOCK) ON l.resource_database_id = DB_ID() AND o.object_id = ' +
      "CASE WHEN l.resource_type = 'OBJECT' THEN l.resource_associated_entity_id ELSE p.object_id END " +
      'LEFT JOIN sys.schemas AS n WITH (NOLOCK) ON n.schema_id = o.schema_id ' +
      'LEFT JOIN sys.indexes AS i WITH (NOLOCK) ON i.object_id = p.object_id AND i.index_id = p.index_id ' +
      'WHERE l.request_session_id <> @@SPID) AS seen ' +
      'GROUP BY id, type, mode, status, description, entity, database_name, schema_name, table_name, index_name',
  ),
  unknown: `locks: ${lacksRight}`,
}

/** @see https://learn.microsoft.com/sql/relational-databases/system-dynamic-management-views/sys-dm-os-waiting-tasks-transact-sql */
export const waitQuestion: Question = {
  ask: sql(
    'SELECT w.session_id AS id, w.wait_type AS wait_type, w.wait_duration_ms AS waited_ms, ' +
      'w.blocking_session_id AS blocker FROM sys.dm_os_waiting_tasks AS w ' +
      "WHERE w.wait_type LIKE N'LCK%' AND w.session_id IS NOT NULL AND w.session_id <> @@SPID",
  ),
  unknown: `who blocks whom: ${lacksRight}`,
}
