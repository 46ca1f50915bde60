import type { DeadlockedSession } from '../../core/deadlock.ts'
import type { LockSeen } from '../../core/inspection.ts'
import type { Row } from '../../core/statement.ts'
import { deadlockedSession } from '../deadlock-session.ts'
import { groupBy, textOf } from '../inspect-session.ts'
import { sql } from '../sql.ts'
import type { DeadlockClues, DeadlockReader, Question, Replies } from '../tools.ts'
import { tableInContext, waitsInDetail, type DetailedWait } from './deadlock-detail.ts'

const ageMs = (from: string): string => `extract(epoch FROM clock_timestamp() - ${from}) * 1000`

/** What the others run now, and since when: those who have gone on run something else. */
const activity = (pids: string): Question => ({
  ask: sql(
    'SELECT pid::text AS id, usename::text AS user_name, application_name AS application, query AS statement, ' +
      `${ageMs('query_start')} AS statement_ms, ${ageMs('xact_start')} AS transaction_ms ` +
      `FROM pg_stat_activity WHERE pid IN (${pids})`,
  ),
  unknown: 'what the others ran',
})

/** The tables in which those have locked rows, or changed them, who are still in their transactions. */
const tables = (pids: string): Question => ({
  ask: sql(
    'SELECT DISTINCT l.pid::text AS id, l.mode, n.nspname AS schema_name, c.relname AS relation_name FROM pg_locks l ' +
      'JOIN pg_database d ON d.oid = l.database AND d.datname = current_database() ' +
      "JOIN pg_class c ON c.oid = l.relation AND c.relkind IN ('r', 'p', 'm') JOIN pg_namespace n ON n.oid = c.relnamespace " +
      `WHERE l.granted AND l.locktype = 'relation' AND l.mode <> 'AccessShareLock' AND l.pid IN (${pids}) ` +
      "AND l.pid <> pg_backend_pid() AND n.nspname NOT IN ('pg_catalog', 'pg_toast')",
  ),
  unknown: 'in which tables the others had locks',
})

const relations = (numbers: string): Question => ({
  ask: sql(
    'SELECT c.oid::text AS relation, n.nspname AS schema_name, c.relname AS relation_name ' +
      `FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid IN (${numbers})`,
  ),
  unknown: 'the names of the tables',
})

/**
 * The server tells the victim who waited for whom, in the detail of the error, and tells nobody else. Statements are in
 * its log only; what the others ran can be asked for as long as they run it.
 */
export const deadlocks: DeadlockReader = {
  questions: ({ error }) => {
    const waits = waitsInDetail(error)
    if (waits.length === 0) return {}
    const pids = numbersIn(waits.flatMap(({ waiter, blocker }) => [waiter, blocker]))
    const named = numbersIn(waits.flatMap(({ thing }) => thing.relation ?? []))
    return {
      activity: activity(pids),
      tables: tables(pids),
      ...(named === '' ? {} : { relations: relations(named) }),
    }
  },
  read: (replies, clues) => {
    const waits = waitsInDetail(clues.error)
    if (waits.length === 0) return { sessions: [], unseen: [noDetail] }
    const sessions = waits.map((wait, place) =>
      sessionOf(wait, { replies, clues, waits, isVictim: place === 0 }),
    )
    return { sessions, unseen: replies.activity === undefined ? [] : sessions.flatMap(unknownStatement) }
  },
  latest: {
    questions: {
      count: {
        ask: sql(
          'SELECT deadlocks::text AS deadlocks, stats_reset::text AS since FROM pg_stat_database ' +
            'WHERE datname = current_database()',
        ),
        unknown: 'how many there were',
      },
    },
    read: ({ count }) => {
      const number = textOf(count?.[0]?.deadlocks)
      return {
        deadlocks: [],
        ...(number === undefined ? {} : { counted: Number(number) }),
        unseen: [logOnly, ...counted(count?.[0])],
      }
    },
  },
}

const noDetail = 'who waited for whom: the error came without the detail that PostgreSQL gives'

const logOnly =
  'PostgreSQL keeps no deadlock after it has told its victim: look for "deadlock detected" in the log of the server, ' +
  'or subscribe to the channel holdfast:deadlock in the application'

function counted(row: Row | undefined): readonly string[] {
  const [number, since] = [textOf(row?.deadlocks), textOf(row?.since)]
  if (number === undefined) return []
  return [`deadlocks counted in this database${since === undefined ? '' : ` since ${since}`}: ${number}`]
}

/** Only digits reach a statement. PostgreSQL's own numbers for processes and relations fit into 32 bits. */
function numbersIn(numbers: readonly string[]): string {
  return [...new Set(numbers)].filter((one) => Number(one) > 0 && Number(one) < 2 ** 31).join(', ')
}

function unknownStatement({ id, statement }: DeadlockedSession): readonly string[] {
  return statement === undefined
    ? [`what ${id} ran while it waited: it has gone on since. The log of the server has its statement`]
    : []
}

interface Reading {
  readonly replies: Replies
  readonly clues: DeadlockClues
  readonly waits: readonly DetailedWait[]
  readonly isVictim: boolean
}

function sessionOf(wait: DetailedWait, { replies, clues, waits: all, isVictim }: Reading): DeadlockedSession {
  const { waiter: id, blocker } = wait
  const row = replies.activity?.find((one) => one.id === id)
  const isSame = (age: unknown): boolean => Number(age ?? 0) > clues.sinceMs
  const waits = {
    lock: lockOf(wait, replies, isVictim ? tableInContext(clues.error) : undefined),
    blockedBy: [blocker],
  }
  const told = { user: row?.user_name, application: row?.application, waits }
  // what is known of its locks: those that others waited for
  const wanted = all
    .filter((one) => one.blocker === id && one.thing.kind !== 'transaction')
    .map((one) => lockOf(one, replies, undefined))
  if (isVictim) {
    const ran = clues.sent.filter((text, place) => place < clues.sent.length - 1 || text !== clues.failed)
    return deadlockedSession({ id, isVictim, holds: wanted }, { ...told, statement: clues.failed, ran })
  }
  const statement = isSame(row?.statement_ms) ? row?.statement : undefined
  const holds = [...wanted, ...(isSame(row?.transaction_ms) ? tablesOf(id, replies.tables) : [])]
  return deadlockedSession({ id, isVictim, holds }, { ...told, statement })
}

/** Whoever waits for a row waits for the transaction that has it. */
function lockOf(
  { mode, thing, blocker }: DetailedWait,
  replies: Replies,
  table: string | undefined,
): LockSeen {
  if (thing.relation !== undefined) {
    const row = replies.relations?.find(({ relation }) => relation === thing.relation)
    return { kind: thing.kind, mode, on: `${thing.on} ${row ? nameOf(row) : `number ${thing.relation}`}` }
  }
  if (thing.kind !== 'transaction') return { kind: thing.kind, mode, on: thing.on }
  return table === undefined
    ? { kind: 'transaction', mode, on: `what ${blocker} had locked or changed (${thing.on})` }
    : { kind: 'row', mode, on: `a row of ${table} (${thing.on})` }
}

function tablesOf(id: string, rows: readonly Row[] = []): readonly LockSeen[] {
  const own = groupBy(
    rows.filter((row) => row.id === id),
    nameOf,
  )
  return [...own].map(([name, [first]]) => ({
    kind: 'table',
    mode: String(first?.mode),
    on: `table ${name}`,
  }))
}

function nameOf({ schema_name: schema, relation_name: name }: Row): string {
  return `${String(schema)}.${String(name)}`
}
