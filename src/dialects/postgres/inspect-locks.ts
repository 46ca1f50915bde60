import type { SqlStatement } from '../../core/statement.ts'
import { isAtLeast, type Version } from '../../core/version.ts'
import { sql } from '../sql.ts'

const ms = (from: string): string => `round(extract(epoch FROM clock_timestamp() - ${from}) * 1000)::bigint`

/** A session in this database locks things of this database, or things that all databases share. */
const isHere = 'l.database IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))'

/**
 * What only says that a session lives: every transaction locks its own number, and every statement its indexes and the
 * catalogs that it looks into. Worth telling as soon as somebody waits for it. A prepared transaction is known by its
 * number alone.
 */
const isNoise = `l.granted AND (l.locktype IN ('virtualxid', 'transactionid') AND l.pid IS NOT NULL OR c.relkind IN ('i', 'I')
        OR l.mode = 'AccessShareLock' AND (l.locktype = 'object' OR n.nspname IN ('pg_catalog', 'pg_toast', 'information_schema')))`

/** The lock on its own number tells which of the locks without a process are a prepared transaction's. */
const prepared = `(SELECT o.virtualtransaction, x.gid, x.prepared, x.owner, x.database
               FROM pg_prepared_xacts x JOIN pg_locks o ON o.transactionid = x.transaction AND o.granted AND o.pid IS NULL)`

/**
 * One row for each lock that is held or waited for, and who it is. Nothing is left out for having no relation: waits for
 * advisory locks, rows and transactions have none.
 */
export function lockList(scope: 'database' | 'server', version: Version): SqlStatement {
  const within = scope === 'server' ? '' : '\n   AND coalesce(a.datname, p.database) = current_database()'
  return sql(`
SELECT coalesce(l.pid::text, 'prepared ' || p.gid) AS id, l.pid IS NULL AS is_prepared,
       coalesce(a.usename, p.owner)::text AS user_name, a.application_name AS application, a.state, a.query AS statement,
       ${ms('coalesce(a.xact_start, p.prepared)')} AS transaction_ms,
       l.locktype, l.mode, l.granted, n.nspname AS schema_name, c.relname AS relation_name,
       l.relation::text AS relation, l.transactionid::text AS transaction_number, l.virtualxid AS virtual_number,
       CASE WHEN l.locktype = 'advisory' AND l.objsubid = 1
            THEN ((l.classid::bigint << 32) | l.objid::bigint)::text END AS int64,
       CASE WHEN l.locktype = 'advisory' AND l.objsubid = 2
            THEN l.classid::int::text || ', ' || l.objid::int::text END AS pair,
       CASE WHEN l.locktype = 'object' THEN l.classid::regclass::text || ' ' || l.objid::text END AS object,
       concat_ws(' ', l.locktype, l.database, l.relation, l.page, l.tuple, l.virtualxid, l.transactionid,
                 l.classid, l.objid, l.objsubid) AS thing,
       CASE WHEN NOT l.granted THEN ${waitedMs(version)} END AS waited_ms,
       CASE WHEN NOT l.granted THEN ${blockers(version)} END AS blocked_by
  FROM pg_locks l
  LEFT JOIN pg_stat_activity a ON a.pid = l.pid
  LEFT JOIN ${prepared} p ON l.pid IS NULL AND l.virtualtransaction = p.virtualtransaction
  LEFT JOIN pg_class c ON c.oid = l.relation AND ${isHere}
  LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE l.pid IS DISTINCT FROM pg_backend_pid()
   AND coalesce(a.pid::text, p.gid) IS NOT NULL${within}
   AND NOT coalesce(${isNoise}, false)
 ORDER BY l.pid, l.granted, thing`)
}

/** `waitstart` came with 14, and is empty for a moment after the wait has begun. */
function waitedMs(version: Version): string {
  const start = isAtLeast(version, [14, 0, 0]) ? 'coalesce(l.waitstart, a.state_change)' : 'a.state_change'
  return ms(start)
}

/** `pg_blocking_pids` came with 9.6, and knows the queue too. Before, it is whoever has what is waited for. */
function blockers(version: Version): string {
  if (isAtLeast(version, [9, 6, 0])) return "array_to_string(pg_blocking_pids(l.pid), ',')"
  const same = ['locktype', 'database', 'relation', 'page', 'tuple', 'virtualxid', 'transactionid']
    .concat('classid', 'objid', 'objsubid')
    .map((column) => `h.${column} IS NOT DISTINCT FROM l.${column}`)
  return `(SELECT string_agg(DISTINCT coalesce(h.pid, 0)::text, ',') FROM pg_locks h
             WHERE h.granted AND h.pid IS DISTINCT FROM l.pid AND ${same.join(' AND ')})`
}
