import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3'
import { PrismaMariaDb } from '@prisma/adapter-mariadb'
import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'

import { configOf } from '../engines/mariadb-pool.ts'
import { openMysqlForge } from './forge-client.ts'
import { PrismaClient as PrismaMysqlClient } from './prisma/mysql/client.ts'
import { PrismaClient } from './prisma/postgres/client.ts'
import { PrismaClient as PrismaSqliteClient } from './prisma/sqlite/client.ts'

/** Prisma as it comes: the driver adapter is nobody's but its own. */
function openStockPrisma(url: string, max = 4): PrismaClient {
  const pool = new pg.Pool({ connectionString: url, max })
  pool.on('error', () => {})
  return new PrismaClient({ adapter: new PrismaPg(pool, { disposeExternalPool: true }) })
}

export function openStockPrismaOnSqlite(url: string, timeout = 0): PrismaSqliteClient {
  return new PrismaSqliteClient({ adapter: new PrismaBetterSqlite3({ url, timeout }) })
}

export function openStockPrismaOnMysql(
  url: string,
  options: { readonly useTextProtocol: boolean },
): PrismaMysqlClient {
  return new PrismaMysqlClient({
    adapter: new PrismaMariaDb({ ...configOf(url), connectionLimit: 2 }, options),
  })
}

/** A client of the shape, for every engine that has one here. */
export function openForge(engine: string, url: string, size = 4) {
  if (engine === 'postgres') return openStockPrisma(url, size)
  return engine === 'sqlite' ? openStockPrismaOnSqlite(url) : openMysqlForge(url, size)
}
