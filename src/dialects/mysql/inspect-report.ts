import type { Row } from '../../core/statement.ts'
import type { LockFound } from '../inspect-found.ts'
import { textOf } from '../inspect-session.ts'
import { sql } from '../sql.ts'
import type { Question } from '../tools.ts'

export const reportQuestion: Question = {
  ask: sql('SHOW ENGINE INNODB STATUS'),
  unknown: 'row locks, and sessions of other users: this user lacks the privilege PROCESS',
}

/** A transaction as the status report of InnoDB tells of it. */
export interface ReportedTransaction {
  readonly session: string
  readonly activeMs: number
  /** How many it has, but for the one it waits for. */
  readonly rowLocks: number
  readonly wait?: { readonly lock: Omit<LockFound, 'session'>; readonly waitedMs: number | undefined }
}

/**
 * The transactions of the report, a paragraph for each. What counts stands before the statement, whose text could say
 * anything, or behind the last headline of a wait.
 */
export function reportedTransactions(rows: readonly Row[] | undefined): readonly ReportedTransaction[] {
  const [, ...paragraphs] = (textOf(rows?.[0]?.Status) ?? '').split(/^---TRANSACTION /m)
  return paragraphs.flatMap((paragraph) => {
    const owner = /^(?:MariaDB|MySQL) thread id (\d+),/m.exec(paragraph)
    const head = paragraph.slice(0, owner?.index ?? 0)
    const active = /^.*?, ACTIVE\b.*? (\d+) sec/.exec(head)
    if (owner?.[1] === undefined || active === null) return []
    const wait = /^LOCK WAIT /m.test(head) ? reportedWait(paragraph) : undefined
    const locks = Number(/(\d+) row lock\(s\)/.exec(head)?.[1] ?? 0)
    return [
      {
        session: owner[1],
        activeMs: Number(active[1]) * 1000,
        rowLocks: wait?.lock.lock.kind === 'row' ? locks - 1 : locks,
        ...(wait === undefined ? {} : { wait }),
      },
    ]
  })
}

const headline = /^------- TRX HAS BEEN WAITING (\d+) (SEC|us) FOR THIS LOCK TO BE GRANTED:\n(.*)/gm
const lockLine = /(?:index (\S+) of )?table (`.+`) trx id \d+ lock[_ ]mode (.+?) waiting/

function reportedWait(paragraph: string): ReportedTransaction['wait'] {
  const [, time, unit, line = ''] = [...paragraph.matchAll(headline)].at(-1) ?? []
  const [, index, table, mode] = lockLine.exec(line) ?? []
  const waitedMs = time === undefined ? undefined : unit === 'SEC' ? Number(time) * 1000 : Number(time) / 1000
  if (table !== undefined && mode !== undefined) return { lock: namedLock({ table, index, mode }), waitedMs }
  return {
    lock: { lock: { kind: 'row', mode: 'LOCK WAIT', on: 'a row, of which table is not told' } },
    waitedMs,
  }
}

/** A lock by the quoted name of its table, and of its index when it is on a row. */
export function namedLock(names: {
  readonly table: string
  readonly index: string | undefined
  readonly mode: string
}): Omit<LockFound, 'session'> {
  const { mode, index } = names
  const table = names.table.replaceAll('`', '')
  return index === undefined
    ? { lock: { kind: 'table', mode, on: `table ${table}` }, table }
    : { lock: { kind: 'row', mode, on: `a row of ${table} (index ${index.replaceAll('`', '')})` }, table }
}
