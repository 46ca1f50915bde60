import { Kysely, type Transaction } from 'kysely'
import { afterAll, afterEach, beforeAll, expect, expectTypeOf, test } from 'vitest'

import { LockLostError, LockNotAvailableError, LockTimeoutError } from '../../src/core/errors.ts'
import { createLocks, kyselyQueue, type KyselyLocks } from '../../src/entries/kysely.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { briefly } from '../leases/briefly.ts'
import { dialects, type ServerName } from './kysely-dialects.ts'
import { caught, gate } from './stage.ts'

interface Shop {
  upload: { id: number; size: number }
  job: {
    id: number
    state: string
    claim_token: string | null
    claimed_until: string | number | null
  }
}

describeEngines(specs, { only: Object.keys(dialects) })

function specs(context: EngineContext): void {
  const name = context.name as ServerName
  const dbs: Kysely<Shop>[] = []
  let locks: KyselyLocks<Transaction<Shop>, ServerName>
  let others: KyselyLocks<Transaction<Shop>, ServerName>

  beforeAll(async () => {
    for (const _ of [1, 2]) dbs.push(new Kysely<Shop>({ dialect: dialects[name](context.engine.server.url) }))
    const [db, other] = dbs
    if (db === undefined || other === undefined) throw new Error('there are two')
    locks = createLocks(db, { dialect: name })
    others = createLocks(other, { dialect: name })
    await db.schema
      .createTable('upload')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('size', 'integer', (column) => column.notNull())
      .execute()
    await db.schema
      .createTable('job')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('state', 'varchar(20)', (column) => column.notNull())
      .addColumn('claim_token', 'varchar(36)')
      .addColumn('claimed_until', 'bigint')
      .execute()
  })
  afterEach(() => until(async () => (await context.engine.leftovers()).length === 0, `${name} holds nothing`))
  afterAll(() => Promise.all(dbs.map((db) => db.destroy())))

  test('uploads at once under a named lock never pass the cap', async () => {
    const upload = async (from: typeof locks, id: number): Promise<boolean> =>
      from.withLock(['upload', 1], async (tx) => {
        expectTypeOf(tx).toEqualTypeOf<Transaction<Shop>>()
        const rows = await tx.selectFrom('upload').select('size').execute()
        if (rows.reduce((sum, { size }) => sum + size, 0) + 40 > 100) return false
        await tx.insertInto('upload').values({ id, size: 40 }).execute()
        return true
      })
    const stored = await Promise.all(
      Array.from({ length: 12 }, (_, id) => upload(id % 2 === 0 ? locks : others, id)),
    )
    expect(stored.filter(Boolean)).toHaveLength(2)
  })

  test('a lock that is held is refused, waited for, and taken when it is free', async () => {
    const [began, ending] = [gate(), gate()]
    const holder = locks.withLock('held', async () => {
      began.open()
      await ending.opened
    })
    await began.opened
    expect(await others.tryLock('held', async () => 'in')).toEqual({ acquired: false })
    const late = others.withLock('held', async () => 'in', { wait: { timeoutMs: 300 } })
    expect(await caught(late)).toBeInstanceOf(LockTimeoutError)
    ending.open()
    await holder
    expect(await others.tryLock('held', async () => 'in')).toEqual({ acquired: true, value: 'in' })
  })

  test('a lock outlives transactions until it is released', async () => {
    const held = await locks.acquire('long')
    await locks.transaction(async (tx) => tx.selectFrom('upload').selectAll().execute())
    expect(await caught(others.acquire('long', { wait: 'nowait' }))).toBeInstanceOf(LockNotAvailableError)
    await held.release()
    await (await others.acquire('long', { wait: 'nowait' })).release()
  })

  test('a lease is fenced', async () => {
    const old = await briefly((ttlMs) => locks.lease('report', { ttlMs, renew: false }))
    const next = await others.lease('report')
    expect(next.fence).toBeGreaterThan(old.fence)
    const write = async (tx: Transaction<Shop>): Promise<unknown> =>
      tx.insertInto('upload').values({ id: 99, size: 1 }).execute()
    expect(await caught(locks.fenced(old, write))).toBeInstanceOf(LockLostError)
    await others.fenced(next, write)
    await next.release()
  })

  test('jobs are claimed by one only, by a queue that the schema checks', async () => {
    const jobs = kyselyQueue<Shop>()({
      table: 'job',
      id: 'id',
      orderBy: 'id',
      where: { state: 'ready' },
      claim: { token: 'claim_token', until: 'claimed_until' },
      done: { set: { state: 'done' } },
    })
    const rows = [1, 2, 3, 4].map((id) => ({ id, state: 'ready' }))
    await dbs[0]
      ?.insertInto('job')
      .values(rows.map((row) => ({ ...row, claim_token: null, claimed_until: null })))
      .execute()
    const claimed = (
      await Promise.all([locks.claim(jobs, { limit: 2 }), others.claim(jobs, { limit: 2 })])
    ).flat()
    expect(claimed.map(({ id }) => Number(id)).toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4])
    expectTypeOf(claimed[0]?.row.state).toEqualTypeOf<string | undefined>()
    for (const job of claimed) await job.complete()
    expect(await locks.claim(jobs)).toEqual([])
  })

  test('what is done once is done once', async () => {
    const deliver = async (from: typeof locks): Promise<boolean> =>
      from.transaction(async (tx) => (await from.once(tx, ['webhook', 7], async () => {})).isFirst)
    const firsts = await Promise.all([locks, others, locks, others].map(deliver))
    expect(firsts.filter(Boolean)).toHaveLength(1)
  })
}
