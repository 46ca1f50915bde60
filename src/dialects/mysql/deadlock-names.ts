import type { DeadlockedSession } from '../../core/deadlock.ts'
import type { LockSeen } from '../../core/inspection.ts'
import type { Row } from '../../core/statement.ts'
import { deadlockedSession } from '../deadlock-session.ts'
import { readableKey } from '../inspect-lease.ts'
import { lockSeen, textOf } from '../inspect-session.ts'
import { sql } from '../sql.ts'
import type { DeadlockClues, Question } from '../tools.ts'

/** The first text in quotes: of a statement of ours the name, which is as long as names may be. */
const quoted = (text: string): string =>
  `LEFT(SUBSTRING_INDEX(SUBSTRING_INDEX(${text}, '''', 2), '''', -1), 64)`

/**
 * Those who wait for user locks now. Whoever waits for one of the victim's goes on waiting until the victim gives it back,
 * so that this is still as it was. InnoDB, and its report, know nothing of user locks.
 */
export const nameWaitQuestion: Question = {
  ask: sql(
    `SELECT id, user_name, statement, name, CASE WHEN name <> '' THEN IS_USED_LOCK(name) END AS holder FROM ` +
      `(SELECT ID AS id, USER AS user_name, INFO AS statement, ${quoted('INFO')} AS name ` +
      "FROM information_schema.PROCESSLIST WHERE STATE = 'User lock' AND INFO LIKE '%get_lock(%''%''%') AS waiting",
  ),
  unknown: 'who else waited for user locks',
}

/** Who asks, and who holds the name that it was refused. */
export function refusedNameQuestion(clues: DeadlockClues): Question {
  const name = refusedName(clues)
  return {
    ask:
      name === undefined
        ? sql('SELECT CONNECTION_ID() AS id, NULL AS holder')
        : { sql: 'SELECT CONNECTION_ID() AS id, IS_USED_LOCK(?) AS holder', params: [name] },
    unknown: 'who holds the user lock',
  }
}

const nameInText = /\bget_lock\s*\(\s*(?:'([^'\\]{1,192})'|"([^"\\]{1,192})")/i

/** The name that the victim has waited for. */
function refusedName({ own, error }: DeadlockClues): string | undefined {
  const [first] = own?.params ?? []
  if (own !== undefined && /\bget_lock\s*\(/i.test(own.sql) && typeof first === 'string') return first
  const [, single, double] = nameInText.exec(typeof error.sql === 'string' ? error.sql : '') ?? []
  return single ?? double
}

/** Whether the deadlock is one of user locks. */
export function isOfNames({ error, own, failed = '' }: DeadlockClues): boolean {
  if (error.errno === 3058 || String(error.originalCode) === '3058') return true
  return [own?.sql, error.sql, failed].some(
    (text) => typeof text === 'string' && /\bget_lock\s*\(/i.test(text),
  )
}

/** The circle, from the victim on: each waits for a name that the next one holds. */
export function nameCircle(
  clues: DeadlockClues,
  asker: Row | undefined,
  waiting: readonly Row[] = [],
): readonly DeadlockedSession[] {
  const victim = textOf(asker?.id)
  if (victim === undefined) return []
  const byId = new Map(waiting.map((row) => [String(row.id), row]))
  const wanted = refusedName(clues)
  const sessions: DeadlockedSession[] = []
  const statement = clues.own?.sql ?? clues.error.sql
  let [id, name, holder] = [victim, wanted, textOf(asker?.holder)]
  let told: { user?: unknown; statement?: unknown } = { statement }
  // ends at the victim, or where the list does not tell on
  while (!sessions.some((one) => one.id === id)) {
    const waits =
      name === undefined ? undefined : { lock: named(name), blockedBy: holder === undefined ? [] : [holder] }
    const holds = [...byId.values()]
      .filter((row) => textOf(row.holder) === id)
      .map((row) => named(String(row.name)))
    const isOwn = sessions.length > 0 && wanted !== undefined && id === textOf(asker?.holder)
    sessions.push(
      deadlockedSession(
        { id, isVictim: id === victim, holds: isOwn ? withName(holds, wanted) : holds },
        { ...told, waits },
      ),
    )
    if (holder === undefined) break
    const row = byId.get(holder)
    ;[id, name, holder] = [holder, textOf(row?.name), textOf(row?.holder)]
    told = { user: row?.user_name, statement: row?.statement }
  }
  return sessions
}

function withName(holds: readonly LockSeen[], name: string): readonly LockSeen[] {
  const lock = named(name)
  return holds.some(({ on }) => on === lock.on) ? holds : [...holds, lock]
}

function named(name: string): LockSeen {
  return lockSeen({ kind: 'name', mode: 'EXCLUSIVE', on: `name ${name}`, key: readableKey(name) })
}
