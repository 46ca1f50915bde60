import { LockUsageError } from '../../core/errors.ts'
import type { Sessions } from '../../core/session.ts'
import type { KyselyInstance } from '../kysely/connection.ts'
import { notWanted } from '../must-have.ts'
import { dressed } from '../orm/dressed.ts'
import { rewordable } from '../orm/rewording.ts'
import { sessions as pgSessions, type PgClient, type PgPool, type PgSessionOptions } from '../pg/sessions.ts'
import { contextOn, type QueryingClient } from './context.ts'
import { unknownMikroOrm } from './known.ts'
import { keptInside, type Manager } from './manager.ts'

/** How PostgreSQL is spoken to through it. */
export type MikroOrmSessionOptions = PgSessionOptions

/** What is used of a `MikroORM`. */
export interface MikroOrmInstance {
  readonly em: MikroOrmManager
}

/** What is used of its `EntityManager` to make others. */
export interface MikroOrmManager {
  fork(options?: { readonly useContext?: boolean }): object
  getConnection(type?: 'write'): object
}

/** What is used of a connection of MikroORM's. */
interface MikroConnection {
  getClient: () => KyselyInstance
  /** The pool of `pg`. Rejects where the application has made its own. */
  getNativeClient: () => Promise<PgPool>
}

/** Throws for what is not a MikroORM over `pg`. */
export function sessionsOf(orm: MikroOrmInstance, options: MikroOrmSessionOptions = {}): Sessions<object> {
  const connection = connectionOf(orm)
  const { open } = pgSessions(poolOf(connection), options)
  // of its pool nobody can tell at once whether it has a connection to spare for listening
  return dressed(
    { open },
    {
      on: (client, wire) => {
        const em = orm.em.fork({ useContext: false }) as Manager
        em.setTransactionContext(
          contextOn(rewordable(client, wire) as unknown as QueryingClient, connection.getClient()),
        )
        return keptInside(em)
      },
      // as MikroORM's own transactions do: what the work has changed and not flushed is a part of it
      finish: (tx) => tx.flush(),
      off: (tx) => tx.clear(),
    },
  )
}

function connectionOf(orm: MikroOrmInstance): MikroConnection {
  const em = (orm as Partial<MikroOrmInstance> | undefined)?.em
  if (typeof em?.getConnection !== 'function' || typeof em.fork !== 'function')
    throw notWanted(orm, { field: 'orm', pass: 'what MikroORM.init() gives', from: 'mikro-orm' })
  const connection = em.getConnection('write') as Partial<MikroConnection>
  const { name } = connection.constructor
  if (typeof connection.getNativeClient !== 'function' || typeof connection.getClient !== 'function')
    throw unknownMikroOrm(`its ${name} does not give the client beneath`)
  if (!name.startsWith('PostgreSql'))
    throw new LockUsageError(
      'orm',
      `its ${name} is not over pg, which is all that Holdfast knows of MikroORM`,
    )
  return connection as MikroConnection
}

function poolOf(connection: MikroConnection): PgPool {
  const connect = async (): Promise<PgClient> => {
    const pool = await connection.getNativeClient().catch((cause: unknown) => {
      throw new LockUsageError(
        'orm',
        'has a Kysely or a dialect of your own in driverOptions: leave it out',
        {
          cause,
        },
      )
    })
    return pool.connect()
  }
  return { connect }
}
