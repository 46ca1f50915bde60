import type { Row } from '../../core/statement.ts'
import type { LockFound } from '../inspect-found.ts'
import { readableKey } from '../inspect-lease.ts'
import { lockSeen, textOf } from '../inspect-session.ts'
import { sql } from '../sql.ts'
import type { Question } from '../tools.ts'

/**
 * Takes the name out of a statement that waits in GET_LOCK: printable ASCII without quotes and backslashes, as long as a
 * name may be. Without backslashes of its own, since whether they escape is a setting.
 */
const nameInStatement = `(?i)(?<=get_lock[(]['"])[]!#-&(-[^-~ ]{1,192}(?=['"])`

/** The server itself reads the names and tells the holders, also where it keeps no list of locks at all. */
export const userLockQuestion: Question = {
  ask: sql(
    'SELECT id, name, IS_USED_LOCK(name) AS holder FROM (SELECT ID AS id, REGEXP_SUBSTR(INFO, ' +
      `'${nameInStatement.replaceAll("'", "''")}') AS name FROM information_schema.PROCESSLIST ` +
      "WHERE STATE = 'User lock') AS waiting WHERE name <> ''",
  ),
  unknown: 'who holds the user locks that others wait for',
}

/** The waits that the states of the sessions tell, for a server that does not list its locks. */
export function statedLocks(sessions: readonly Row[], userLocks: readonly Row[] = []): readonly LockFound[] {
  const named = new Map(userLocks.map((row) => [String(row.id), row]))
  const waits = sessions.flatMap(({ id, state }) => {
    if (state === 'User lock') return [userLockWait(String(id), named.get(String(id)))]
    const what = /^Waiting for (?:(.+) )?metadata lock$|^Waiting for (backup) lock$/.exec(String(state))
    if (what === null) return []
    const on = `${what[1] ?? what[2] ?? 'definition'}, of which name is not told`
    return [
      {
        session: String(id),
        lock: { kind: 'metadata', mode: String(state), on },
        wait: { blockedBy: [] },
      } as const,
    ]
  })
  const holds = userLocks.flatMap(({ holder, name }) => {
    const session = textOf(holder)
    return session === undefined ? [] : [{ session, lock: userLock(String(name)) }]
  })
  return [...waits, ...holds]
}

function userLockWait(session: string, row: Row | undefined): LockFound {
  const holder = textOf(row?.holder)
  const name = textOf(row?.name)
  return {
    session,
    lock:
      name === undefined ? { kind: 'name', mode: 'User lock', on: 'name in its statement' } : userLock(name),
    wait: { blockedBy: holder === undefined ? [] : [holder] },
  }
}

function userLock(name: string): LockFound['lock'] {
  return lockSeen({ kind: 'name', mode: 'User lock', on: `name ${name}`, key: readableKey(name) })
}
