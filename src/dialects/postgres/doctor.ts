import type { Finding } from '../../core/attestation.ts'
import type { Row } from '../../core/statement.ts'
import { judgeSettings, settingsIn } from '../finding-settings.ts'
import { leaseTableEnd } from '../lease-table-end.ts'
import { sql } from '../sql.ts'
import type { Examination, Question } from '../tools.ts'
import { kind, readKind } from './doctor-clusters.ts'
import { rules } from './doctor-settings.ts'
import { named } from './named.ts'
import { isTrue } from './boolean.ts'

/** So many transactions later, claims are several times slower: seen with 16,000 dead rows. */
const oldTransactions = 10_000
const oldSeconds = 600

const settings = sql(
  `SELECT name, setting FROM pg_settings WHERE name IN (${rules.map(({ setting }) => `'${setting}'`).join(', ')})`,
)

const snapshots = sql(`
SELECT count(*) FILTER (WHERE backend_xmin IS NOT NULL AND (age(backend_xmin) >= ${oldTransactions}
                              OR extract(epoch FROM clock_timestamp() - xact_start) >= ${oldSeconds}))::int AS old,
       count(*) FILTER (WHERE query = '<insufficient privilege>')::int AS hidden
  FROM pg_stat_activity
 WHERE pid <> pg_backend_pid()`)

export const examination: Examination = {
  questions: (): Readonly<Record<string, Question>> => ({
    settings: { ask: settings, unknown: 'the settings that concern locks' },
    ...(named.doubts && {
      named: {
        ask: named.doubts.ask,
        unknown: 'whether the server is a standby, and what its advisory locks are',
      },
    }),
    kind,
    snapshots: { ask: snapshots, unknown: 'whether old transactions are open' },
  }),
  read: (replies) => [
    ...judgeSettings(rules, settingsIn(replies.settings, 'name', 'setting')),
    ...readServer(replies.named?.[0]),
    ...readKind(replies.kind?.[0]),
    ...readSnapshots(replies.snapshots?.[0]),
  ],
  leaseRow: {
    target: (name) => ({ table: '_leases', key: { name } }),
    remove: (name) => sql('DELETE FROM _leases WHERE name = $1', name),
  },
  leaseTable: {
    ...leaseTableEnd,
    lock: [sql('LOCK TABLE _leases IN ACCESS EXCLUSIVE MODE NOWAIT')],
  },
  indexes: (table) => sql(indexes, table),
}

/** An expression has no column of its own. Indexes that are being built, or failed to be, are not used. */
const indexes = `
SELECT made.relname AS index_name, coalesce(field.attname, '') AS column_name
  FROM pg_class AS owner
  LEFT JOIN pg_index AS entry ON entry.indrelid = owner.oid AND entry.indisvalid
  LEFT JOIN pg_class AS made ON made.oid = entry.indexrelid
  LEFT JOIN LATERAL unnest(entry.indkey::int[]) WITH ORDINALITY AS part (number, place) ON true
  LEFT JOIN pg_attribute AS field
    ON field.attrelid = owner.oid AND field.attnum = part.number AND part.number > 0
 WHERE owner.relname = $1 AND owner.relkind IN ('r', 'p') AND pg_table_is_visible(owner.oid)
 ORDER BY made.relname, part.place`

function readServer(row: Row | undefined): readonly Finding[] {
  if (row === undefined) return []
  if (isTrue(row.standby)) return [standby]
  return isTrue(row.taken) && isTrue(row.listed) ? [] : [stub]
}

function readSnapshots(row: Row | undefined): readonly Finding[] {
  const [old, hidden] = [Number(row?.old ?? 0), Number(row?.hidden ?? 0)]
  return [...(old > 0 ? [oldSnapshot(old)] : []), ...(hidden > 0 ? [hiddenSessions(hidden)] : [])]
}

const standby: Finding = {
  id: 'standby',
  severity: 'error',
  title: 'this server is a standby',
  why: 'It only reads: no row can be locked here, and its advisory locks exclude nobody on the primary.',
  mend: 'Connect to the primary, for instance with target_session_attrs=read-write in the address.',
}

const stub: Finding = {
  id: 'advisory-stub',
  severity: 'error',
  title: 'the advisory lock functions of this server lock nothing',
  why: "They report that a lock was granted, but it is not in the list of locks: the server speaks PostgreSQL's protocol but is something else.",
  mend: 'Use locks.lease(...) and row locks here, or a server that has advisory locks.',
}

function oldSnapshot(count: number): Finding {
  return {
    id: 'old-snapshot',
    severity: 'warning',
    title: `${count} ${count === 1 ? 'session keeps' : 'sessions keep'} an old snapshot open`,
    why: 'Rows changed since then cannot be vacuumed. A queue whose jobs change state often gets slower with each claim.',
    mend: 'End transactions that were left open: they are in pg_stat_activity, by xact_start and backend_xmin.',
  }
}

function hiddenSessions(count: number): Finding {
  return {
    id: 'sessions-hidden',
    severity: 'note',
    title: `${count} ${count === 1 ? 'session' : 'sessions'} of other roles cannot be inspected`,
    why: 'Whether they keep old snapshots open, or what they wait for, stays unknown.',
    mend: 'Grant pg_read_all_stats to this role.',
  }
}
