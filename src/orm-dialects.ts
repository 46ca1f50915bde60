import type { Dialect } from './dialects/dialect.ts'
import { mariadb } from './dialects/mariadb/index.ts'
import { mysql } from './dialects/mysql/index.ts'
import { postgres } from './dialects/postgres/index.ts'
import { sqlite } from './dialects/sqlite/index.ts'

/** What ORMs reach, by the protocol that the driver below them speaks. */
export const spoken: Readonly<Record<'postgres' | 'mysql' | 'sqlite', readonly Dialect[]>> = {
  postgres: [postgres],
  mysql: [mysql, mariadb],
  sqlite: [sqlite],
}
