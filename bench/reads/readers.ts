import type { ReadClaim } from './claim-reads.ts'
import { readInnodbClaim } from './innodb.ts'
import { readMongodbClaim } from './mongodb.ts'
import { readPostgresClaim } from './postgres.ts'
import { readSqliteClaim } from './sqlite.ts'

/** How an engine is asked what a claim has read. DuckDB is not: it has no index to choose. */
export const readers: Readonly<Record<string, ReadClaim>> = {
  postgres: readPostgresClaim,
  mysql: readInnodbClaim,
  mariadb: readInnodbClaim,
  sqlite: readSqliteClaim,
  mongodb: readMongodbClaim,
}
