import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3'
import { PrismaMariaDb } from '@prisma/adapter-mariadb'
import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'

import { createLocks, lockable, type Lockable, type TransactionOf } from '../../src/entries/prisma.ts'
import { configOf } from '../engines/mariadb-pool.ts'
import { PrismaClient as PrismaMysqlClient } from './prisma/mysql/client.ts'
import { PrismaClient } from './prisma/postgres/client.ts'
import { PrismaClient as PrismaSqliteClient } from './prisma/sqlite/client.ts'
import type { Orm, OrmStage, StageOptions } from './stage.ts'

export type PrismaOnPg = ReturnType<typeof openPrisma>
type Tx = TransactionOf<PrismaClient>

export function openPrisma(url: string, max = 4) {
  const pool = new pg.Pool({ connectionString: url, max })
  pool.on('error', () => {})
  const held = lockable(new PrismaPg(pool))
  const prisma = new PrismaClient({ adapter: held.adapter })
  const close = async (): Promise<void> => {
    await prisma.$disconnect()
    await pool.end()
  }
  return { prisma, held, pool, close }
}

export function openPrismaOnSqlite(url: string) {
  const held = lockable(new PrismaBetterSqlite3({ url, timeout: 0 }))
  const prisma = new PrismaSqliteClient({ adapter: held.adapter })
  return { prisma, held, close: () => prisma.$disconnect() }
}

function openPrismaOnMysql(url: string, connectionLimit = 4) {
  const held = lockable(new PrismaMariaDb({ ...configOf(url), connectionLimit }))
  const prisma = new PrismaMysqlClient({ adapter: held.adapter })
  return { prisma, held, close: () => prisma.$disconnect() }
}

/** The models are the same on every database: their types are taken for those of PostgreSQL. */
interface Opened {
  readonly prisma: PrismaClient
  readonly held: Lockable
  readonly close: () => Promise<void>
}

export function openPrismaOn(engine: string, url: string, size?: number): Opened {
  if (engine === 'postgres') return openPrisma(url, size)
  const opened = engine === 'sqlite' ? openPrismaOnSqlite(url) : openPrismaOnMysql(url, size)
  return opened as unknown as Opened
}

function stageOn({ prisma, held, close }: Opened, { size, pipeline }: StageOptions): OrmStage<Tx> {
  const select = (id: number, tx: Tx = prisma) => tx.account.findMany({ where: { id } })
  return {
    locks: createLocks(prisma, held, { pipeline }),
    query: select,
    select,
    // `update` is three statements on MySQL
    update: (tx, { id, balance }) => tx.account.updateMany({ where: { id }, data: { balance } }),
    insert: (tx, data) => tx.account.create({ data }),
    send: (tx, text) => Promise.resolve(tx.$executeRawUnsafe(text)),
    nest: (tx, work) => tx.$transaction((inner) => work(inner)),
    ownTransaction: (work) => prisma.$transaction((tx) => work(tx)),
    size,
    close,
  }
}

export const prismaOrm: Orm = {
  name: '@prisma/client',
  engines: ['postgres', 'mysql', 'mariadb', 'sqlite'],
  nesting: () => 'asynchronous',
  open: async (engine, url, { size = 4, pipeline } = {}) =>
    stageOn(openPrismaOn(engine, url, size), { size, pipeline }) as OrmStage,
}
