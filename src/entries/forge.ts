import { traits as file } from '../adapters/better-sqlite3/sessions.ts'
import type { ForgeClient, TransactionOf } from '../adapters/forge/client.ts'
import { withoutConnection } from '../adapters/forge/refusals.ts'
import { sessions as forgeSessions, type ForgeLimits } from '../adapters/forge/sessions.ts'
import {
  endingAfterErrors,
  oneFile,
  refusingAfterErrors,
  type ForgeTraits,
} from '../adapters/forge/traits.ts'
import { traits as mysql2 } from '../adapters/mysql2/sessions.ts'
import { traits as pg } from '../adapters/pg/traits.ts'
import { oneOf } from '../core/check-field.ts'
import type { Sessions } from '../core/session.ts'
import type { Dialect } from '../dialects/dialect.ts'
import { mariadb } from '../dialects/mariadb/index.ts'
import { mysql } from '../dialects/mysql/index.ts'
import { postgres } from '../dialects/postgres/index.ts'
import { sqlite } from '../dialects/sqlite/index.ts'
import { joinLocks, type Locks } from '../locks.ts'

export type { ForgeClient, TransactionOf } from '../adapters/forge/client.ts'
export type { ForgeLimits } from '../adapters/forge/sessions.ts'
export { withTxRetry } from '../locks.ts'
import { checkLocksOptions } from '../locks/locks-options.ts'
export { queue } from '../locks/queue/queue.ts'
export type * from '../result-types.ts'

/** The databases that are reached through such a client. */
export type ForgeDialectName = 'postgres' | 'mysql' | 'mariadb' | 'sqlite'

/** The client quotes values itself. */
const asGiven = endingAfterErrors({ ...mysql2, toDriver: (value) => value })

const below: Readonly<Record<ForgeDialectName, ForgeTraits>> = {
  postgres: refusingAfterErrors(pg),
  mysql: asGiven,
  mariadb: asGiven,
  sqlite: oneFile(file),
}

const dialects: Readonly<Record<ForgeDialectName, Dialect>> = { postgres, mysql, mariadb, sqlite }

/** What `createLocks` has to be told of the server, and the limits of the client. */
export interface ForgeLocksOptions<D extends ForgeDialectName> extends ForgeLimits {
  /** The client does not tell which database it speaks to. */
  readonly dialect: D
  /** As the server spells it. @default asked of the server once */
  readonly version?: string
}

/** What the database can do through such a client. */
export function dialectThrough(name: ForgeDialectName): Dialect {
  return withoutConnection(dialects[oneOf('dialect', name, Object.keys(below) as ForgeDialectName[])])
}

/** Sessions in the transactions of such a client. */
export function sessions<Client extends ForgeClient>(
  client: Client,
  { dialect, ...limits }: ForgeLocksOptions<ForgeDialectName>,
): Sessions<TransactionOf<Client>> {
  const through = dialectThrough(dialect)
  const found = forgeSessions(client, { ...limits, traits: below[dialect], dialect: through })
  return found as unknown as Sessions<TransactionOf<Client>>
}

/**
 * Locks through any client that has `$transaction`, `$queryRawUnsafe` and `$executeRawUnsafe`, as Prisma's and those
 * made after it. The work receives the client's own object of the transaction.
 *
 * The client alone begins and ends transactions, and lends no connection: what belongs to a connection is refused.
 */
export function createLocks<Client extends ForgeClient, D extends ForgeDialectName>(
  client: Client,
  options: ForgeLocksOptions<D>,
): Locks<TransactionOf<Client>, D> {
  const { dialect, version } = checkLocksOptions(options, 'timeout', 'maxWait')
  const through = dialectThrough(dialect)
  return joinLocks<TransactionOf<Client>, D>(sessions(client, options), [], {
    dialect: through,
    ...(version !== undefined && { version }),
  })
}
