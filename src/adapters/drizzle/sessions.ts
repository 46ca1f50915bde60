import { LockUsageError } from '../../core/errors.ts'
import type { Sessions } from '../../core/session.ts'
import { sessions as sqliteSessions, type SqliteDatabase } from '../better-sqlite3/sessions.ts'
import { sessions as mysqlSessions, type Mysql2Pool } from '../mysql2/sessions.ts'
import { mustHave } from '../must-have.ts'
import { dressed, type Dress } from '../orm/dressed.ts'
import { rewordable } from '../orm/rewording.ts'
import { sessions as pgSessions, type PgPool, type PgSessionOptions } from '../pg/sessions.ts'
import { transactionOn, type DrizzleSession } from './transaction.ts'

/** What is used of a database of Drizzle's: its typings tell of the client, and keep the session to themselves. */
export interface DrizzleDatabase {
  readonly $client: unknown
  transaction(work: never, ...rest: never[]): unknown
}

/** Drizzle's own transaction of a database. */
export type TransactionOf<Db extends DrizzleDatabase> = Db extends {
  transaction(work: (tx: infer Tx, ...rest: never[]) => never, ...rest: never[]): unknown
}
  ? Tx & object
  : never

/** What is taken from Drizzle or its driver by choice. */
export interface DrizzleSessionOptions extends PgSessionOptions {
  /** SQLite: opens the handle of one transaction. @default Drizzle's own handle, for one transaction after another */
  readonly open?: () => SqliteDatabase
}

/** By the name that Drizzle gives to the class of its session. */
export type DrizzleKind = 'NodePgSession' | 'MySql2Session' | 'BetterSQLiteSession'

/** A driver that Drizzle sits on. */
interface Below {
  /** Drizzle takes a single connection as well, which has nothing to give to the transactions of several callers. */
  readonly isConnection: (client: object) => boolean
  readonly sessions: (client: never, options: DrizzleSessionOptions) => Sessions<object>
}

const drivers: Readonly<Record<DrizzleKind, Below>> = {
  NodePgSession: {
    // pools have none of their own
    isConnection: (client) => 'getTypeParser' in client,
    sessions: (pool: PgPool, options) => pgSessions(pool, options),
  },
  MySql2Session: {
    isConnection: (client) => !('getConnection' in client),
    sessions: (pool: Mysql2Pool) => mysqlSessions(pool),
  },
  BetterSQLiteSession: {
    isConnection: () => false,
    sessions: (database: SqliteDatabase, { open }) => sqliteSessions(open ?? database),
  },
}

const entityKind = Symbol.for('drizzle:entityKind')

/** What is below a Drizzle database, and how its transactions are had. */
export interface DrizzleWay {
  readonly kind: DrizzleKind
  readonly sessions: Sessions<object>
}

/** Throws for a database that is not Drizzle's, and for what is below it that Holdfast cannot use. */
export function wayOf(db: DrizzleDatabase, options: DrizzleSessionOptions = {}): DrizzleWay {
  const session = sessionOf(db)
  const kind = kindOf(session)
  const { sessions, isConnection } = drivers[kind]
  if (isConnection(session.client))
    throw new LockUsageError('db', 'is on a single connection: give drizzle a pool')
  const own = sessions(session.client as never, options)
  const dress: Dress<object, object> = {
    on: (connection, wire) => transactionOn(session, rewordable(connection, wire)),
  }
  return { kind, sessions: dressed(own, dress) }
}

function sessionOf(db: DrizzleDatabase): DrizzleSession {
  const pass = 'a database of drizzle-orm, as in createLocks(drizzle(pool))'
  mustHave(db, { field: 'db', methods: ['transaction', 'select'], pass, from: 'drizzle' })
  const { session } = (db ?? {}) as Partial<{ readonly session: Partial<DrizzleSession> }>
  if (typeof session?.transaction === 'function' && typeof session.client === 'object')
    return session as DrizzleSession
  throw new LockUsageError('db', 'has not the session that drizzle-orm has: 0.45 is known to work')
}

function kindOf(session: DrizzleSession): DrizzleKind {
  const kind = String((session.constructor as unknown as Record<symbol, unknown>)[entityKind])
  if (Object.hasOwn(drivers, kind)) return kind as DrizzleKind
  throw new LockUsageError(
    'db',
    `${kind} is not one of ${Object.keys(drivers).join(', ')}: use drizzle-orm over pg, mysql2 or better-sqlite3`,
  )
}
