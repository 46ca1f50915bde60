import mysql from 'mysql2/promise'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'

import { sessions as mysqlSessions } from '../../src/adapters/mysql2/sessions.ts'
import { sessions as pgSessions } from '../../src/adapters/pg/sessions.ts'
import { LockTimeoutError } from '../../src/core/errors.ts'
import type { Sessions } from '../../src/core/session.ts'
import { meet } from '../../src/locks.ts'
import { registry, type DialectName } from '../../src/registry.ts'
import { withDelayedAnswers } from '../adapters/delayed-answers.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { caught } from './stage.ts'

const undo: (() => unknown)[] = []

afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step()
})

/** A pool of one connection, so that its next user is always the one after. */
function connect(engine: string, url: string): Sessions {
  if (engine === 'postgres') {
    const pool = new pg.Pool({ connectionString: url, max: 1 })
    undo.push(() => pool.end())
    return pgSessions(pool)
  }
  const pool = mysql.createPool({ uri: url, connectionLimit: 1 })
  undo.push(() => pool.end())
  return mysqlSessions(pool)
}

/** The server's own error for a wait that took too long. */
const lateAnswers: Readonly<Record<string, object>> = {
  postgres: { code: '55P03', routine: 'ProcessInterrupts' },
  mysql: { errno: 1205, code: 'ER_LOCK_WAIT_TIMEOUT', sqlState: 'HY000' },
  mariadb: { errno: 1205, code: 'ER_LOCK_WAIT_TIMEOUT', sqlState: 'HY000' },
}

const settings: Readonly<Record<string, string>> = {
  postgres: 'show lock_timeout',
  mysql: 'select @@innodb_lock_wait_timeout as n',
  mariadb: 'select @@innodb_lock_wait_timeout as n',
}

describeEngines(specs, { only: Object.keys(lateAnswers) })

function specs(context: EngineContext): void {
  const name = context.name as DialectName

  test('a lock of the connection whose grant met the end of the wait is given back', async () => {
    const sessions = withDelayedAnswers(connect(name, context.engine.server.url), (statement) => {
      if (/pg_advisory_lock|get_lock/i.test(statement))
        throw Object.assign(new Error('for the test'), lateAnswers[name])
    })
    const { withLock } = meet(sessions, [registry[name]]).shared
    const options = { isolation: 'repeatable read', wait: { timeoutMs: 60_000 }, attempts: 1 } as const
    expect(await caught(withLock('late', async () => {}, options))).toBeInstanceOf(LockTimeoutError)
    expect(await context.engine.leftovers()).toEqual([])
  })

  test('an abort while COMMIT is under way leaves no setting to the next user of the connection', async () => {
    const aborting = new AbortController()
    const plain = connect(name, context.engine.server.url)
    const sessions: Sessions = {
      ...plain,
      open: async () => {
        const session = await plain.open()
        return { ...session, commit: () => session.commit().then(() => aborting.abort()) }
      },
    }
    const setting = async (): Promise<unknown> => {
      const session = await plain.open()
      return session.run({ sql: settings[name] ?? '', params: [] }).finally(session.release)
    }
    const before = await setting()
    const { transaction } = meet(sessions, [registry[name]]).shared
    await caught(transaction(async () => {}, { lockTimeoutMs: 7000, signal: aborting.signal }))
    expect(aborting.signal.aborted).toBe(true)
    expect(await setting()).toEqual(before)
  })
}
