import { afterEach, beforeEach, expect, test } from 'vitest'

import { createLocks } from '../../src/entries/forge.ts'
import type { EngineSession } from '../engines/engine.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { caught } from '../entries/stage.ts'
import { openStockPrismaOnMysql } from './forge.ts'
import type { PrismaClient } from './prisma/mysql/client.ts'
import { accounts } from './stage.ts'

describeEngines(specs, { only: ['mysql', 'mariadb'] })

/** Prisma as it comes, on its adapter for both servers. */
function specs(context: EngineContext): void {
  let prisma: PrismaClient
  const openWith = (useTextProtocol: boolean): PrismaClient =>
    (prisma = openStockPrismaOnMysql(context.engine.server.url, { useTextProtocol }))
  const dialect = context.name as 'mysql' | 'mariadb'

  beforeEach(async () => {
    const session = await context.engine.open()
    for (const sql of accounts) await session.run({ sql, params: [] })
    await session.close()
  })
  afterEach(() => prisma.$disconnect())

  test('what Prisma has given up after its own time is not said to be stored', async () => {
    let own: PrismaClient | undefined
    const locks = createLocks(
      seeing(openWith(true), (tx) => (own = tx)),
      { dialect, timeout: 300 },
    )
    const late = locks.transaction(
      async (tx) => {
        await tx.account.create({ data: { id: 3, balance: 1 } })
        // looked for behind the back of Holdfast
        await until(async () => (await caught(count(own))) !== 'no error', 'the end of its time')
      },
      { attempts: 1 },
    )
    expect(await caught(late)).toMatchObject({ message: expect.stringContaining('nothing is stored') })
    expect(await prisma.account.findMany({ where: { id: 3 } })).toEqual([])
  })

  test('work that loses its connection is run again', async () => {
    const locks = createLocks(openWith(true), { dialect })
    let runs = 0
    await locks.transaction(async (tx) => {
      runs += 1
      await tx.account.create({ data: { id: 3, balance: runs } })
      if (runs > 1) return
      const [row] = await tx.$queryRawUnsafe<[{ id: bigint }]>('SELECT CONNECTION_ID() AS id')
      await context.engine.kill({ id: String(row.id) } as EngineSession)
      await until(async () => (await caught(tx.account.count())) !== 'no error', 'the loss')
    })
    expect(await prisma.account.findMany({ where: { id: 3 } })).toEqual([{ id: 3, balance: 2 }])
  })

  test('an adapter that prepares every statement is refused where the server cannot prepare all', async () => {
    const locks = createLocks(openWith(false), { dialect })
    const ended = await caught(locks.transaction(async () => {}))
    if (dialect === 'mariadb') expect(ended).toBe('no error')
    else
      expect(ended).toMatchObject({
        name: 'LockUsageError',
        message: expect.stringContaining('useTextProtocol: true'),
      })
  })
}

/** A client that tells of Prisma's own `tx`. */
function seeing(prisma: PrismaClient, see: (tx: PrismaClient) => void): PrismaClient {
  const $transaction = (work: (tx: PrismaClient) => Promise<unknown>, options: object): Promise<unknown> =>
    prisma.$transaction((tx) => {
      see(tx as PrismaClient)
      return work(tx as PrismaClient)
    }, options)
  return Object.create(prisma, { $transaction: { value: $transaction } }) as PrismaClient
}

async function count(tx: PrismaClient | undefined): Promise<void> {
  await tx?.account.count()
}
