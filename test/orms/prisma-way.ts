import { sessions } from '../../src/adapters/prisma/sessions.ts'
import type { Row, SqlStatement, Statement } from '../../src/core/statement.ts'
import { openPrismaOn, prismaOrm } from './prisma.ts'
import type { OrmWay } from './way.ts'

export const prismaWay: OrmWay = {
  name: prismaOrm.name,
  engines: prismaOrm.engines,
  connect: async (engine, url, size) => {
    const { prisma, held, close } = openPrismaOn(engine, url, size)
    return { sessions: sessions(prisma, held), size, run: runRaw, close }
  },
}

interface RawTransaction {
  $queryRawUnsafe(text: string, ...values: readonly unknown[]): Promise<readonly Row[]>
  $executeRawUnsafe(text: string, ...values: readonly unknown[]): Promise<unknown>
}

/** As an application would, which has a text and values. */
export async function runRaw(tx: object, statement: Statement): Promise<readonly Row[]> {
  const { sql, params } = statement as SqlStatement
  const raw = tx as RawTransaction
  if (/^\s*(?:select|with|show|pragma)\b|\breturning\b/i.test(sql)) return raw.$queryRawUnsafe(sql, ...params)
  await raw.$executeRawUnsafe(sql, ...params)
  return []
}
