import type { Way } from './ground.ts'
import { onBetterSqlite3 } from './grounds/better-sqlite3.ts'
import { onDuckdb } from './grounds/duckdb.ts'
import { onKysely } from './grounds/kysely.ts'
import { onMariadb } from './grounds/mariadb.ts'
import { onMongodb } from './grounds/mongodb.ts'
import { onMysql2 } from './grounds/mysql2.ts'
import { onPg } from './grounds/pg.ts'

/** Every way into the library. */
export const ways: readonly Way[] = [
  ...onPg,
  ...onMysql2,
  ...onMariadb,
  ...onBetterSqlite3,
  ...onDuckdb,
  ...onMongodb,
  ...onKysely,
]
