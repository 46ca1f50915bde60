import { randomUUID } from 'node:crypto'

import mysql from 'mysql2/promise'
import pg from 'pg'
import { afterAll, afterEach, beforeEach } from 'vitest'

import { sessions as mysql2Sessions } from '../../src/adapters/mysql2/sessions.ts'
import { sessions as pgSessions } from '../../src/adapters/pg/sessions.ts'
import type { Session, Sessions } from '../../src/core/session.ts'
import { emit } from '../../src/emit.ts'
import { identify } from '../../src/locks/identify.ts'
import { createSessionLocks, type SessionLocks } from '../../src/locks/session-lock/session-lock.ts'
import type { Held } from '../../src/locks/session-lock/hold.ts'
import type { SessionLockLimits } from '../../src/locks/session-lock/options.ts'
import { findDialect, type DialectName } from '../../src/registry.ts'
import { contextWith, describeEngines, until, type EngineContext } from '../engines/use.ts'

/** Session locks on a pool of their own. */
export interface Party extends SessionLocks {
  /** Releases what the test has left; what was lost meanwhile is no error. */
  readonly releaseAll: () => Promise<void>
  /** Every session that was ever opened, in the order of opening. */
  readonly opened: readonly Session[]
  /** Takes a connection of the pool, as the application does. */
  readonly borrow: () => Promise<Session>
  /** How many wait for a connection of the pool; undefined where the driver does not tell. */
  readonly queued: () => number | undefined
  readonly close: () => Promise<void>
}

export interface PartyOptions {
  readonly max?: number
  readonly limits?: Partial<SessionLockLimits>
  readonly checkServer?: (session: Session) => Promise<void>
  /** What the locks are given in place of a session. */
  readonly change?: (session: Session) => Session
}

interface Driver {
  readonly sessions: Sessions
  readonly queued: Party['queued']
  readonly close: () => Promise<void>
}

function onPg(url: string, max: number): Driver {
  const pool = new pg.Pool({ connectionString: url, max })
  pool.on('error', () => {})
  return {
    sessions: pgSessions(pool),
    queued: () => pool.waitingCount,
    close: () => pool.end(),
  }
}

function onMysql2(url: string, max: number): Driver {
  const pool = mysql.createPool({ uri: url, connectionLimit: max })
  return {
    sessions: mysql2Sessions(pool),
    queued: () => undefined,
    close: () => pool.end(),
  }
}

const drivers: Readonly<Record<string, (url: string, max: number) => Driver>> = {
  postgres: onPg,
  mysql: onMysql2,
  mariadb: onMysql2,
}

/** The locks as the library joins them, and a look at what they do with their connections. */
export function partyOn(engine: string, url: string, options: PartyOptions = {}): Party {
  const { max = 20, limits = {}, change = (session) => session } = options
  const driver = drivers[engine]?.(url, max)
  if (driver === undefined) throw new Error(`no driver for ${engine}`)
  const opened: Session[] = []
  const open = async (): Promise<Session> => {
    const session = change(await driver.sessions.open())
    opened.push(session)
    return session
  }
  const { checkServer = async () => {} } = options
  const locks = createSessionLocks({
    port: {
      sessions: { ...driver.sessions, open },
      server: identify({ dialects: [findDialect(engine as DialectName)], version: undefined }),
    },
    planFor: ({ dialect, version }, request) =>
      emit({ dialect, version: version.join('.') }, 'advisory', request),
    checkServer,
    limits,
  })
  const granted: Held[] = []
  return {
    queued: driver.queued,
    close: driver.close,
    borrow: () => driver.sessions.open(),
    opened,
    acquire: async (key, asked) => {
      const held = await locks.acquire(key, asked)
      granted.push(held)
      return held
    },
    releaseAll: async () => void (await Promise.allSettled(granted.map((held) => held.release()))),
  }
}

/** What the server shows of named locks. */
export interface OnServer {
  readonly held: number
  readonly waiting: number
  /** The connections that hold one or wait for one. */
  readonly sessions: readonly string[]
}

export interface Stage extends EngineContext {
  /** One more pool with locks; closed after the test. */
  readonly party: (options?: PartyOptions) => Party
  readonly onServer: () => Promise<OnServer>
  /** A key that no other test has. */
  readonly key: (part?: string | number) => readonly (string | number)[]
}

/** Runs the specs on every engine whose named locks belong to a connection. After each test nothing may be left. */
export function describeSessionLocks(specs: (stage: Stage) => void): void {
  describeEngines((context) => specs(stageOf(context)), { only: Object.keys(drivers) })
}

/** To MySQL and MariaDB a name is the same in every database, and other files use the server meanwhile. */
const file = randomUUID()
let tests = 0

function stageOf(context: EngineContext): Stage {
  const parties: Party[] = []
  const onServer = async (): Promise<OnServer> => {
    const lines = (await context.engine.leftovers()).filter((line) => /advisory|user level lock/i.test(line))
    const waiting = lines.filter((line) => /\b(wants|pending)\b/.test(line))
    const sessions = new Set(lines.map((line) => /session (\d+)/.exec(line)?.[1] ?? '?'))
    return { held: lines.length - waiting.length, waiting: waiting.length, sessions: [...sessions] }
  }
  const closeAll = async (): Promise<void> => {
    for (const party of parties.splice(0)) await party.close()
  }
  beforeEach(() => {
    tests += 1
  })
  afterEach(async () => {
    for (const party of parties) await party.releaseAll()
    await until(
      async () => (await context.engine.leftovers()).length === 0,
      'an engine on which nothing is left',
    )
    await closeAll()
  })
  afterAll(closeAll)
  return contextWith(context, {
    party: (options) => {
      const made = partyOn(context.name, context.engine.server.url, options)
      parties.push(made)
      return made
    },
    onServer,
    key: (part = 'key') => ['session-locks', file, tests, part],
  })
}

export function caught(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'no error',
    (error: unknown) => error,
  )
}
