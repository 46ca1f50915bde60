import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3'
import { PrismaPg } from '@prisma/adapter-pg'
import { createLocks, lockable } from 'holdfast/prisma'

import { intoDatabase } from '../databases/database.ts'
import type { Place } from '../story/place.ts'
import { PrismaClient } from './generated/postgres/client.ts'
import { PrismaClient as SqliteClient } from './generated/sqlite/client.ts'

/*
 * Prisma on PostgreSQL or on SQLite. An application has one of the two, and needs the lines of that one only: wrap the
 * driver adapter, give `held.adapter` to the client, and `held` to `createLocks`.
 */

type App = ReturnType<typeof onPostgres>

/** Opens the database by its address, and makes the tables. */
export async function openApp({ url, scratch, atEnd }: Place): Promise<App> {
  const { database } = scratch
  const app = isPostgres(url) ? onPostgres(intoDatabase(url, database)) : onSqlite(database)
  atEnd(() => app.prisma.$disconnect())
  for (const table of app.schema) await app.prisma.$executeRawUnsafe(table)
  return app
}

function onPostgres(connectionString: string) {
  const held = lockable(new PrismaPg({ connectionString }))
  const prisma = new PrismaClient({ adapter: held.adapter })
  return { prisma, locks: createLocks(prisma, held), schema: schemaOf('serial PRIMARY KEY') }
}

/** The models are the same on both, so their types are taken for those of PostgreSQL. */
function onSqlite(file: string): App {
  // with no time to wait in the driver: it would keep this process from what it waits for
  const held = lockable(new PrismaBetterSqlite3({ url: file, timeout: 0 }))
  const prisma = new SqliteClient({ adapter: held.adapter })
  const schema = schemaOf('integer PRIMARY KEY AUTOINCREMENT')
  return { prisma, locks: createLocks(prisma, held), schema } as unknown as App
}

function isPostgres(url: string): boolean {
  return /^postgres(?:ql)?:/.test(url)
}

function schemaOf(id: string): readonly string[] {
  return [
    `CREATE TABLE upload (id ${id}, owner text NOT NULL, size integer NOT NULL)`,
    'CREATE TABLE stock (item text PRIMARY KEY, n integer NOT NULL)',
    "INSERT INTO stock VALUES ('shoe', 2), ('pen', 1), ('pencil', 1)",
  ]
}
