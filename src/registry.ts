import type { Dialect } from './dialects/dialect.ts'
import { duckdb } from './dialects/duckdb/index.ts'
import { mariadb } from './dialects/mariadb/index.ts'
import { mongodb } from './dialects/mongodb/index.ts'
import { mssql } from './dialects/mssql/index.ts'
import { mysql } from './dialects/mysql/index.ts'
import { postgres } from './dialects/postgres/index.ts'
import { sqlite } from './dialects/sqlite/index.ts'
import { LockUsageError } from './core/errors.ts'

/** The dialects that come with Holdfast, by their names. */
export interface Registry {
  readonly postgres: typeof postgres
  readonly mysql: typeof mysql
  readonly mariadb: typeof mariadb
  readonly sqlite: typeof sqlite
  readonly duckdb: typeof duckdb
  readonly mssql: typeof mssql
  readonly mongodb: typeof mongodb
}

/** The one list of dialects. */
export const registry: Registry = { postgres, mysql, mariadb, sqlite, duckdb, mssql, mongodb }

/** The names of the dialects that come with Holdfast. */
export type DialectName = keyof Registry

/** A dialect of ours by name, or one of your own as it is. */
export function findDialect(dialect: DialectName | Dialect): Dialect {
  if (typeof dialect === 'object' && dialect !== null) return dialect
  if (Object.hasOwn(registry, dialect)) return registry[dialect]
  throw new LockUsageError(
    'dialect',
    `${JSON.stringify(dialect)} is not one of ${Object.keys(registry).join(', ')}`,
  )
}
