import Database from 'better-sqlite3'
import { sql } from 'drizzle-orm'
import { drizzle as overSqlite } from 'drizzle-orm/better-sqlite3'
import { drizzle as overPg } from 'drizzle-orm/node-postgres'
import { integer, pgTable, serial, text } from 'drizzle-orm/pg-core'
import { integer as sqliteInteger, sqliteTable, text as sqliteText } from 'drizzle-orm/sqlite-core'
import { createLocks } from 'holdfast/drizzle'
import pg from 'pg'

import { intoDatabase } from '../databases/database.ts'
import type { Place } from '../story/place.ts'

/*
 * Drizzle on PostgreSQL or on SQLite. An application has one of the two, and needs the lines of that one only:
 * `createLocks(db)` is all.
 */

type App = ReturnType<typeof onPostgres>

/** Opens the database by its address, and makes the tables. */
export async function openApp({ url, scratch, atEnd }: Place): Promise<App> {
  const { database } = scratch
  const app = /^postgres(?:ql)?:/.test(url) ? onPostgres(intoDatabase(url, database)) : onSqlite(database)
  atEnd(app.close)
  for (const table of app.schema) await app.run(table)
  return app
}

function onPostgres(connectionString: string) {
  const pool = new pg.Pool({ connectionString })
  // a connection that breaks while nobody uses it is replaced; without a listener it would end the process
  pool.on('error', () => {})
  const db = overPg(pool)
  return {
    db,
    locks: createLocks(db),
    uploads: pgTable('upload', {
      id: serial().primaryKey(),
      owner: text().notNull(),
      size: integer().notNull(),
    }),
    stock: pgTable('stock', { item: text().primaryKey(), n: integer().notNull() }),
    schema: schemaOf('serial PRIMARY KEY'),
    run: async (statement: string): Promise<unknown> => db.execute(sql.raw(statement)),
    close: (): Promise<unknown> => pool.end(),
  }
}

/** The builders are the same on both, so their types are taken for those of PostgreSQL. */
function onSqlite(file: string): App {
  const own = new Database(file)
  const db = overSqlite(own)
  return {
    db,
    // each transaction has a handle of its own, and others go on meanwhile
    locks: createLocks(db, { open: () => new Database(file) }),
    uploads: sqliteTable('upload', {
      id: sqliteInteger().primaryKey({ autoIncrement: true }),
      owner: sqliteText().notNull(),
      size: sqliteInteger().notNull(),
    }),
    stock: sqliteTable('stock', { item: sqliteText().primaryKey(), n: sqliteInteger().notNull() }),
    schema: schemaOf('integer PRIMARY KEY AUTOINCREMENT'),
    run: async (statement: string) => db.run(sql.raw(statement)),
    close: async () => own.close(),
  } as unknown as App
}

function schemaOf(id: string): readonly string[] {
  return [
    `CREATE TABLE upload (id ${id}, owner text NOT NULL, size integer NOT NULL)`,
    'CREATE TABLE stock (item text PRIMARY KEY, n integer NOT NULL)',
    "INSERT INTO stock VALUES ('shoe', 2), ('pen', 1), ('pencil', 1)",
  ]
}
