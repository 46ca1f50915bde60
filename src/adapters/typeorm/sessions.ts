import { LockUsageError } from '../../core/errors.ts'
import type { Sessions } from '../../core/session.ts'
import { sessions as sqliteSessions, type SqliteDatabase } from '../better-sqlite3/sessions.ts'
import { sessions as mysqlSessions, type Mysql2Pool } from '../mysql2/sessions.ts'
import { dressed } from '../orm/dressed.ts'
import { rewordable } from '../orm/rewording.ts'
import type { Wire } from '../orm/wire.ts'
import { sessions as pgSessions, type PgPool, type PgSessionOptions } from '../pg/sessions.ts'
import { viewOf } from '../transaction-view.ts'
import { unknownTypeorm } from './known.ts'
import { dresserOf, type TypeormSource } from './transaction.ts'

/** How the driver below TypeORM is used. */
export interface TypeormSessionOptions extends PgSessionOptions {
  /** SQLite: opens the handle of one transaction. @default TypeORM's own handle, for one transaction after another */
  readonly open?: () => SqliteDatabase
}

/** What is used of the drivers inside of TypeORM. */
interface TypeormDriver {
  readonly master?: Partial<PgPool>
  readonly pool?: { readonly promise?: () => Mysql2Pool }
  readonly databaseConnection?: Partial<SqliteDatabase>
}

/** By the package beneath. */
export type TypeormKind = 'pg' | 'mysql2' | 'better-sqlite3'

interface Below {
  readonly sessions: (driver: TypeormDriver, options: TypeormSessionOptions) => Sessions<object> | undefined
  /** The connection as TypeORM talks to it. */
  readonly spokenTo: (tx: object, wire: Wire) => object
}

const drivers: Readonly<Record<TypeormKind, Below>> = {
  pg: {
    sessions: ({ master }, options) =>
      typeof master?.connect === 'function' ? pgSessions(master as PgPool, options) : undefined,
    spokenTo: rewordable,
  },
  mysql2: {
    sessions: ({ pool }) => (pool?.promise === undefined ? undefined : mysqlSessions(pool.promise())),
    // TypeORM has the connection of callbacks, and asks it for the one of promises each time
    spokenTo: (tx, wire) => {
      const promised = rewordable(tx, wire)
      const { connection } = tx as { readonly connection: object }
      return viewOf(connection, (name) => (name === 'promise' ? () => promised : undefined))
    },
  },
  'better-sqlite3': {
    sessions: ({ databaseConnection: handle }, { open }) =>
      typeof handle?.prepare === 'function' ? sqliteSessions(open ?? (handle as SqliteDatabase)) : undefined,
    spokenTo: rewordable,
  },
}

/** Throws for a data source that is not ready, and where TypeORM is not as it is known. */
export function sessionsOf(
  source: TypeormSource,
  kind: TypeormKind,
  options: TypeormSessionOptions = {},
): Sessions<object> {
  if (!source.isInitialized)
    throw new LockUsageError('dataSource', 'is not initialized: await its initialize() first')
  const { sessions, spokenTo } = drivers[kind]
  const own = sessions(source.driver as TypeormDriver, options)
  if (own === undefined) throw unknownTypeorm(`it has no pool of ${kind}, or one for replication`)
  const dress = dresserOf(source)
  return dressed(own, { on: (connection, wire) => dress(spokenTo(connection, wire)) })
}
