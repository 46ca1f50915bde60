import { LockUsageError } from '../../core/errors.ts'
import type { Sessions } from '../../core/session.ts'
import { sessions as sqliteSessions, type SqliteDatabase } from '../better-sqlite3.ts'
import { sessions as mysqlSessions, type Mysql2Pool } from '../mysql2.ts'
import { dressed } from '../orm/dressed.ts'
import { sessions as pgSessions, type PgPool, type PgSessionOptions } from '../pg.ts'
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

export interface DrizzleSessionOptions extends PgSessionOptions {
  /** SQLite: opens the handle of one transaction. @default Drizzle's own handle, for one transaction after another */
  readonly open?: () => SqliteDatabase
}

type DialectName = 'postgres' | 'mysql' | 'mariadb' | 'sqlite'

/** A driver that Drizzle sits on. */
interface Below {
  readonly dialects: readonly DialectName[]
  readonly sessions: (client: never, options: DrizzleSessionOptions) => Sessions<object>
}

/** By the name that Drizzle gives to the class of its session. */
const drivers: Readonly<Record<string, Below>> = {
  NodePgSession: { dialects: ['postgres'], sessions: (pool: PgPool, options) => pgSessions(pool, options) },
  MySql2Session: { dialects: ['mysql', 'mariadb'], sessions: (pool: Mysql2Pool) => mysqlSessions(pool) },
  BetterSQLiteSession: {
    dialects: ['sqlite'],
    sessions: (database: SqliteDatabase, { open }) => sqliteSessions(open ?? database),
  },
}

const entityKind = Symbol.for('drizzle:entityKind')

/** What is below a Drizzle database, and how its transactions are had. */
export interface DrizzleWay {
  readonly dialects: readonly DialectName[]
  readonly sessions: Sessions<object>
}

/** Throws for a database that is not Drizzle's, and for a driver below it that Holdfast does not know. */
export function wayOf(db: DrizzleDatabase, options: DrizzleSessionOptions = {}): DrizzleWay {
  const session = sessionOf(db)
  const { dialects, sessions } = belowOf(session)
  const own = sessions(session.client as never, options)
  return { dialects, sessions: dressed(own, (connection) => transactionOn(session, connection)) }
}

function sessionOf(db: DrizzleDatabase): DrizzleSession {
  const { session } = db as Partial<{ readonly session: Partial<DrizzleSession> }>
  if (typeof session?.transaction === 'function' && typeof session.client === 'object')
    return session as DrizzleSession
  throw new LockUsageError('db', 'is not a database of drizzle-orm: 0.45 is known to work')
}

function belowOf(session: DrizzleSession): Below {
  const kind = String((session.constructor as unknown as Record<symbol, unknown>)[entityKind])
  const below = Object.hasOwn(drivers, kind) ? drivers[kind] : undefined
  if (below !== undefined) return below
  throw new LockUsageError(
    'db',
    `${kind} is not one of ${Object.keys(drivers).join(', ')}: use drizzle-orm with node-postgres, mysql2 or better-sqlite3`,
  )
}
