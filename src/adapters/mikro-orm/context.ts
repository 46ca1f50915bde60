import { LockError, LockUsageError } from '../../core/errors.ts'
import type { KyselyInstance, KyselyQuery, KyselyResult } from '../kysely/connection.ts'
import { refusedEnding, viewOf, type Method } from '../transaction-view.ts'

/** What is used of a client of `pg`. */
export interface QueryingClient {
  query(text: string, values: unknown[]): Promise<PgResult>
}

interface PgResult {
  readonly command: string
  readonly rowCount: number | null
  readonly rows: readonly unknown[]
}

/** What would end or leave the transaction behind our back. */
const refused = new Set<PropertyKey>([
  'transaction',
  'startTransaction',
  'connection',
  'destroy',
  'commit',
  'rollback',
])

interface Step {
  readonly execute: () => Promise<unknown>
}

/**
 * What MikroORM calls the context of a transaction: a Kysely of its own kind, on a connection that somebody else begins
 * and ends the transaction on.
 */
export function contextOn(client: QueryingClient, kysely: KyselyInstance): object {
  const executor = kysely.getExecutor().withConnectionProvider({
    provideConnection: (work: (connection: object) => unknown) => work(connectionOf(client)),
  } as never)
  const dialect = { createIntrospector: () => kysely.introspection }
  const kind = kysely.constructor as new (props: object) => KyselyInstance
  return viewOn(new kind({ config: {}, driver: {}, dialect, executor }), client)
}

/** A new one for each savepoint: MikroORM notes on it how deep it is. */
function viewOn(kysely: KyselyInstance, client: QueryingClient): object {
  const step = (words: string, then: () => unknown): ((name: string) => Step) => {
    return (name) => ({
      execute: async () => {
        await client.query(`${words} "${name.replaceAll('"', '""')}"`, [])
        return then()
      },
    })
  }
  const own: Readonly<Record<PropertyKey, Method>> = {
    savepoint: step('SAVEPOINT', () => viewOn(kysely, client)),
    releaseSavepoint: step('RELEASE SAVEPOINT', () => undefined),
    rollbackToSavepoint: step('ROLLBACK TO SAVEPOINT', () => undefined),
  }
  // MikroORM writes on it, and the Kysely is the same for all savepoints
  return viewOf(Object.create(kysely) as KyselyInstance, (name, value) => {
    if (name === 'isTransaction') return true
    if (Object.hasOwn(own, name)) return own[name]
    if (refused.has(name)) return () => refuse(name)
    return refusedEnding(name) ?? (typeof value === 'function' ? bound(value as Method, kysely) : undefined)
  })
}

/** Kysely keeps its state in private fields, which only the object itself has. */
function bound(method: Method, kysely: KyselyInstance): Method {
  return (...args: never[]) => Reflect.apply(method, kysely, args) as unknown
}

function connectionOf(client: QueryingClient): object {
  return {
    executeQuery: async ({ sql, parameters }: KyselyQuery): Promise<KyselyResult> => {
      const { command, rowCount, rows } = await client.query(sql, [...parameters]).catch(asCause)
      const isChange = /^(?:INSERT|UPDATE|DELETE|MERGE)$/.test(command)
      return { rows: rows ?? [], ...(isChange && { numAffectedRows: BigInt(rowCount ?? 0) }) }
    },
    streamQuery: () => {
      throw new LockUsageError('tx', 'stream is not available inside a transaction: read in pieces instead')
    },
  }
}

/** MikroORM puts an error of its own in the place of each: of what it was, only properties are left, such as a cause. */
function asCause(error: unknown): never {
  throw error instanceof LockError ? new Error(error.message, { cause: error }) : error
}

function refuse(name: PropertyKey): never {
  throw new LockUsageError(
    'tx',
    `${String(name)} must not be called by the work: return to commit, throw to roll back`,
  )
}
