import { judgeSettings, settingsOf, isOn, type SettingRule } from '../finding-settings.ts'
import { sql } from '../sql.ts'
import type { Examination } from '../tools.ts'

/**
 * The database of the connection, which everybody may see.
 *
 * @see https://learn.microsoft.com/sql/relational-databases/system-catalog-views/sys-databases-transact-sql
 * @see https://learn.microsoft.com/sql/t-sql/functions/databasepropertyex-transact-sql
 */
const database = sql(
  'SELECT CAST(is_read_committed_snapshot_on AS int) AS read_committed_snapshot, ' +
    'snapshot_isolation_state_desc AS snapshot_isolation, delayed_durability_desc AS delayed_durability, ' +
    "CAST(DATABASEPROPERTYEX(DB_NAME(), 'Updateability') AS nvarchar(128)) AS updateability, " +
    "CAST(DATABASEPROPERTYEX(DB_NAME(), 'IsOptimizedLockingOn') AS int) AS optimized_locking, " +
    "CAST(SERVERPROPERTY('EngineEdition') AS int) AS engine_edition " +
    'FROM sys.databases WHERE database_id = DB_ID()',
)

/**
 * Settings of the connection: 16384 is XACT_ABORT, and 2 is IMPLICIT_TRANSACTIONS.
 *
 * @see https://learn.microsoft.com/sql/t-sql/functions/options-transact-sql
 */
const connection = sql(
  'SELECT @@LOCK_TIMEOUT AS lock_timeout, CASE WHEN @@OPTIONS & 16384 = 16384 THEN 1 ELSE 0 END AS xact_abort, ' +
    'CASE WHEN @@OPTIONS & 2 = 2 THEN 1 ELSE 0 END AS implicit_transactions',
)

const rules: readonly SettingRule[] = [
  {
    setting: 'updateability',
    isAmiss: (value) => value === 'READ_ONLY',
    id: 'read-only',
    severity: 'error',
    title: 'this database is read-only, as secondary replicas are',
    why: 'Leases cannot be written here, and its locks exclude nobody on the primary.',
    mend: 'Connect to the primary, without ApplicationIntent=ReadOnly.',
  },
  {
    setting: 'delayed_durability',
    isAmiss: (value) => value === 'FORCED',
    id: 'commit-not-durable',
    severity: 'warning',
    title: 'COMMIT answers before the change is on disk (DELAYED_DURABILITY = FORCED)',
    why: 'After a crash a lease that was granted may be gone, and another holder gets it: with a fencing token that is not higher if the clock went back.',
    mend: 'ALTER DATABASE CURRENT SET DELAYED_DURABILITY = ALLOWED, or DISABLED, which is the default.',
  },
  {
    setting: 'implicit_transactions',
    isAmiss: isOn,
    id: 'implicit-transactions',
    severity: 'warning',
    title: 'every statement begins a transaction that stays open (IMPLICIT_TRANSACTIONS)',
    why: 'A plain statement keeps its locks until somebody commits.',
    mend: 'SET IMPLICIT_TRANSACTIONS OFF, the default, on the connections of the application.',
  },
  {
    setting: 'lock_timeout',
    isAmiss: (value) => Number(value) < 0,
    id: 'lock-timeout-unlimited',
    severity: 'note',
    title: 'a wait for a lock is unlimited unless the caller sets a limit (LOCK_TIMEOUT = -1)',
    why: 'A waiter behind a holder that hangs keeps a connection for that long.',
    mend: 'Set wait: { timeoutMs } or lockTimeoutMs in each call.',
  },
  {
    setting: 'lock_timeout',
    isAmiss: (value) => Number(value) >= 0,
    id: 'lock-timeout-set',
    severity: 'note',
    title: 'the connection comes with LOCK_TIMEOUT = {value}',
    why: 'It stays on a connection until it is changed: an earlier user may have left it, and calls that should wait fail after that time.',
    mend: 'Let the pool reset its connections, or set LOCK_TIMEOUT back to -1 after use.',
  },
  {
    setting: 'xact_abort',
    isAmiss: (value) => !isOn(value),
    id: 'xact-abort-off',
    severity: 'note',
    title: 'most errors leave the transaction open (XACT_ABORT = OFF)',
    why: 'Code that catches an error, such as a lock timeout, and commits stores half of the work. Holdfast always rolls back.',
    mend: 'SET XACT_ABORT ON where transactions are written by hand.',
  },
  {
    setting: 'read_committed_snapshot',
    isAmiss: isOn,
    id: 'read-committed-snapshot',
    severity: 'note',
    title: 'plain reads take no locks (READ_COMMITTED_SNAPSHOT = ON)',
    why: 'A plain read ignores every lock and shows what was committed before: only reads through locks.rows(...) wait for the holder.',
    mend: 'Read through locks.rows(...) what you are going to write: it adds hints that lock here too.',
  },
  {
    setting: 'snapshot_isolation',
    isAmiss: (value) => value !== 'ON',
    id: 'snapshot-isolation-off',
    severity: 'note',
    title: 'transactions at the level snapshot are refused (ALLOW_SNAPSHOT_ISOLATION = {value})',
    why: "A transaction that asks for isolation: 'snapshot' fails when it first reads.",
    mend: 'ALTER DATABASE CURRENT SET ALLOW_SNAPSHOT_ISOLATION ON, where that level is wanted.',
  },
  {
    setting: 'optimized_locking',
    isAmiss: (value) => value === '1',
    id: 'optimized-locking',
    severity: 'note',
    title: 'changed rows are held by a lock on the transaction (optimized locking)',
    why: 'Lists of locks show XACT where others show KEY and RID. An UPDATE looks for its rows without locks; those that locks.rows(...) has locked are still held.',
    mend: 'Nothing: read lists of locks with that in mind.',
  },
  {
    setting: 'engine_edition',
    isAmiss: (value) => ['5', '8', '12'].includes(value),
    id: 'azure',
    severity: 'note',
    title: 'this is an Azure service, which ends idle connections',
    why: 'A lock from acquire(...) belongs to a connection, and is lost with it.',
    mend: 'Watch the signal of what acquire(...) returns, or use locks.lease(...) for long work.',
  },
]

export const examination: Examination = {
  questions: () => ({
    database: { ask: database, unknown: 'the settings of the database that concern locks' },
    connection: { ask: connection, unknown: 'the settings of the connection that concern locks' },
  }),
  read: ({ database: ours, connection: own }) => [
    ...judgeSettings(rules, settingsOf(ours?.[0])),
    ...judgeSettings(rules, settingsOf(own?.[0])),
  ],
  leaseRow: {
    target: (name) => ({ table: '_leases', key: { name } }),
    remove: (name) => sql('DELETE FROM _leases WHERE name = @p1', name),
  },
  indexes: (table) => sql(indexes, table),
}

/**
 * Only key columns have an ordinal; others are there to cover a query.
 *
 * @see https://learn.microsoft.com/sql/relational-databases/system-catalog-views/sys-index-columns-transact-sql
 */
const indexes =
  'SELECT entry.name AS index_name, field.name AS column_name FROM sys.tables AS owner ' +
  'LEFT JOIN sys.indexes AS entry ON entry.object_id = owner.object_id AND entry.is_disabled = 0 AND entry.index_id > 0 ' +
  'LEFT JOIN sys.index_columns AS part ON part.object_id = entry.object_id AND part.index_id = entry.index_id ' +
  'AND part.key_ordinal > 0 ' +
  'LEFT JOIN sys.columns AS field ON field.object_id = part.object_id AND field.column_id = part.column_id ' +
  'WHERE owner.object_id = OBJECT_ID(QUOTENAME(@p1)) ORDER BY entry.index_id, part.key_ordinal'
