import { duckdbLibrary } from './duckdb/library.ts'
import { has, type KnownLibrary, type Library, type Members } from './library.ts'
import { mariadbLibrary } from './mariadb/library.ts'
import { mongodbLibrary } from './mongodb/library.ts'
import { postgresJsLibrary } from './postgres-js/library.ts'

const drizzleKind = Symbol.for('drizzle:entityKind')

/** Those that are built on others come first: they may have the methods of what is below them. */
const libraries: readonly KnownLibrary[] = [
  { entry: 'kysely', what: 'an instance of Kysely', is: (it) => has(it, 'selectFrom', 'withPlugin') },
  { entry: 'drizzle', what: 'a database of Drizzle', is: (it) => drizzleKind in (it.constructor as object) },
  { entry: 'knex', what: 'an instance of Knex', is: (it) => has(it, 'raw', 'transaction', 'batchInsert') },
  {
    entry: 'typeorm',
    what: 'a data source of TypeORM',
    is: (it) => has(it, 'createQueryRunner', 'getRepository'),
  },
  { entry: 'sequelize', what: 'an instance of Sequelize', is: (it) => has(it, 'getDialect', 'define') },
  { entry: 'mikro-orm', what: 'a MikroORM', is: (it) => has(it, 'discoverEntity', 'isConnected') },
  { entry: 'prisma', what: 'a client of Prisma', is: (it) => has(it, '$transaction', '$connect') },
  postgresJsLibrary,
  mongodbLibrary,
  duckdbLibrary,
  { entry: 'pg', what: 'a client of pg', is: (it) => has(it, 'connect', 'getTypeParser') },
  { entry: 'pg', what: 'a pool of pg', is: (it) => has(it, 'connect', 'query') && 'totalCount' in it },
  mariadbLibrary,
  { entry: 'mysql2', what: 'a pool of mysql2', is: (it) => has(it, 'getConnection', 'releaseConnection') },
  { entry: 'better-sqlite3', what: 'a handle of better-sqlite3', is: (it) => has(it, 'prepare', 'pragma') },
]

/** The library that something is of, where that can be told for certain. */
export function libraryOf(given: unknown): Library | undefined {
  if ((typeof given !== 'object' && typeof given !== 'function') || given === null) return undefined
  if (typeof (given as Members).constructor !== 'function') return undefined
  return libraries.find(({ is }) => is(given as Members))
}
