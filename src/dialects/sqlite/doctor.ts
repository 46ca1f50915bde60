import { judgeSettings, settingsOf, type SettingRule } from '../finding-settings.ts'
import { leaseTableEnd } from '../lease-table-end.ts'
import { sql } from '../sql.ts'
import type { Examination } from '../tools.ts'

const settings = sql(
  'SELECT (SELECT journal_mode FROM pragma_journal_mode) AS journal_mode, ' +
    '(SELECT synchronous FROM pragma_synchronous) AS synchronous, ' +
    '(SELECT locking_mode FROM pragma_locking_mode) AS locking_mode, ' +
    '(SELECT query_only FROM pragma_query_only) AS query_only, ' +
    "(SELECT file FROM pragma_database_list WHERE name = 'main') AS file",
)

const rules: readonly SettingRule[] = [
  {
    setting: 'query_only',
    isAmiss: (value) => value === '1',
    id: 'read-only',
    severity: 'error',
    title: 'this connection only reads (query_only)',
    why: "SQLite's lock is that of the single writer: a connection that cannot write cannot lock, and leases are written rows.",
    mend: 'Take locks on a connection without PRAGMA query_only.',
  },
  {
    setting: 'locking_mode',
    isAmiss: (value) => value.toLowerCase() === 'exclusive',
    id: 'locking-mode-exclusive',
    severity: 'error',
    title: 'one connection keeps the whole database to itself (locking_mode = EXCLUSIVE)',
    why: 'Once it has read or written, no other connection gets in until it is closed, whatever it holds.',
    mend: 'PRAGMA locking_mode = NORMAL, the default.',
  },
  {
    setting: 'journal_mode',
    // a database in memory has no journal that others could wait for
    isAmiss: (value) => !['wal', 'memory'].includes(value.toLowerCase()),
    id: 'journal-not-wal',
    severity: 'warning',
    title: 'readers and the writer block each other (journal_mode = {value})',
    why: 'COMMIT has to wait until nobody reads, and nobody can read while it is written: locks are held longer, and reads fail as busy.',
    mend: 'PRAGMA journal_mode = WAL, once: the file keeps it.',
  },
  {
    setting: 'synchronous',
    isAmiss: (value) => value === '0',
    id: 'commit-not-durable',
    severity: 'warning',
    title: 'the database does not wait for its disk (synchronous = OFF)',
    why: 'After a power cut leases may be gone and the file may be corrupt.',
    mend: 'PRAGMA synchronous = FULL, or NORMAL in WAL mode, on every connection.',
  },
  {
    setting: 'file',
    isAmiss: (value) => value === '',
    id: 'in-memory',
    severity: 'note',
    title: 'the database is in memory',
    why: 'Its locks reach no other process, and each connection may have a database of its own.',
    mend: 'Use a file if other processes have to be excluded.',
  },
]

/**
 * The application's own: while a statement of Holdfast runs it is 0, so that no statement can tell it.
 */
const busyTimeout: SettingRule = {
  setting: 'busy_timeout',
  isAmiss: (value) => Number(value) > 0,
  id: 'busy-timeout',
  severity: 'warning',
  title:
    'a statement of the application that finds the file locked sleeps for up to {value} ms (busy_timeout)',
  why: 'It sleeps on the JavaScript thread: the whole program stands still, and a holder in the same process can never finish. Holdfast waits without blocking the thread.',
  mend: 'Open handles with { timeout: 0 }, and write through locks.transaction(...).',
}

interface PragmaHandle {
  readonly pragma: (source: string, options: { readonly simple: true }) => unknown
}

function hasPragma(tx: unknown): tx is PragmaHandle {
  return typeof tx === 'object' && tx !== null && 'pragma' in tx && typeof tx.pragma === 'function'
}

export const examination: Examination = {
  questions: () => ({ settings: { ask: settings, unknown: 'the settings of the database file' } }),
  read: (replies) => [
    ...judgeSettings(rules, settingsOf(replies.settings?.[0])),
    ...judgeSettings([busyTimeout], settingsOf(replies.handle?.[0])),
  ],
  handle: (tx) => (hasPragma(tx) ? { busy_timeout: tx.pragma('busy_timeout', { simple: true }) } : undefined),
  leaseRow: {
    target: (name) => ({ table: '_leases', key: { name } }),
    remove: (name) => sql('DELETE FROM _leases WHERE name = ?', name),
  },
  leaseTable: { ...leaseTableEnd, begin: 'IMMEDIATE' },
  indexes: (table) => sql(indexes, table),
}

/** An expression has no column of its own. */
const indexes =
  "SELECT list.name AS index_name, coalesce(info.name, '') AS column_name FROM sqlite_master AS owner " +
  'LEFT JOIN pragma_index_list(owner.name) AS list LEFT JOIN pragma_index_info(list.name) AS info ' +
  "WHERE owner.type = 'table' AND owner.name = ? COLLATE NOCASE ORDER BY list.seq, info.seqno"
