import Database from 'better-sqlite3'
import { sql as drizzleSql } from 'drizzle-orm'
import { drizzle as drizzleSqlite } from 'drizzle-orm/better-sqlite3'
import { drizzle as drizzleMysql } from 'drizzle-orm/mysql2'
import { drizzle as drizzlePostgres } from 'drizzle-orm/node-postgres'
import knex, { type Knex } from 'knex'
import { CompiledQuery, Kysely, MysqlDialect, PostgresDialect, SqliteDialect, type Dialect } from 'kysely'
import mysql from 'mysql2'
import mysqlPromise from 'mysql2/promise'
import pg from 'pg'
import { DataSource, type DataSourceOptions } from 'typeorm'

/** One connection through a library that writes queries. */
export interface LibrarySession {
  readonly run: (text: string) => Promise<unknown>
  readonly close: () => Promise<unknown>
}

export type OpenLibrary = (url: string) => Promise<LibrarySession>

/** The libraries over the drivers that are tested here, each on exactly one connection. */
export const libraries: Readonly<Record<string, Readonly<Record<string, OpenLibrary>>>> = {
  postgres: {
    kysely: async (url) =>
      kyselySession(new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 1 }) })),
    drizzle: async (url) => {
      const client = new pg.Client(url)
      await client.connect()
      const database = drizzlePostgres(client)
      return { run: async (text) => database.execute(drizzleSql.raw(text)), close: () => client.end() }
    },
    knex: async (url) => knexSession({ client: 'pg', connection: url }),
    typeorm: async (url) => typeormSession({ type: 'postgres', url }),
  },
  mysql: {
    kysely: async (url) =>
      kyselySession(new MysqlDialect({ pool: mysql.createPool({ uri: url, connectionLimit: 1 }) })),
    drizzle: async (url) => {
      const client = await mysqlPromise.createConnection(url)
      const database = drizzleMysql(client)
      return { run: async (text) => database.execute(drizzleSql.raw(text)), close: () => client.end() }
    },
    knex: async (url) => knexSession({ client: 'mysql2', connection: url }),
    typeorm: async (url) => typeormSession({ type: 'mysql', url }),
  },
  sqlite: {
    kysely: async (file) =>
      kyselySession(new SqliteDialect({ database: new Database(file, { timeout: 0 }) })),
    drizzle: async (file) => {
      const client = new Database(file, { timeout: 0 })
      const database = drizzleSqlite(client)
      return { run: async (text) => database.run(drizzleSql.raw(text)), close: async () => client.close() }
    },
    knex: async (file) => {
      const session = knexSession({
        client: 'better-sqlite3',
        connection: { filename: file },
        useNullAsDefault: true,
      })
      await session.run('pragma busy_timeout = 0') // knex passes no such option on
      return session
    },
    typeorm: async (file) => typeormSession({ type: 'better-sqlite3', database: file, timeout: 0 }),
  },
}

function kyselySession(dialect: Dialect): LibrarySession {
  const database = new Kysely<unknown>({ dialect })
  return { run: (text) => database.executeQuery(CompiledQuery.raw(text)), close: () => database.destroy() }
}

function knexSession(config: Knex.Config): LibrarySession {
  const database = knex({ ...config, pool: { min: 0, max: 1 } })
  return { run: async (text) => database.raw(text), close: () => database.destroy() }
}

async function typeormSession(options: DataSourceOptions): Promise<LibrarySession> {
  const source = await new DataSource(options).initialize()
  const runner = source.createQueryRunner()
  const close = async (): Promise<void> => {
    await runner.release()
    await source.destroy()
  }
  return { run: (text) => runner.query(text), close }
}
