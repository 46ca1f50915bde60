import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import { createLocks } from '../../src/entries/better-sqlite3.ts'
import { watchOrder, type OrderReport } from '../../src/watch/order.ts'
import { change, describeLibraries, once, run as send } from '../deadlocks/stage.ts'
import { caught } from '../entries/stage.ts'
import { right, wrong } from './order-programs.ts'

let marks = 0

/** What is reported until the end of the test. */
function watched(): OrderReport[] {
  const reports: OrderReport[] = []
  onTestFinished(watchOrder({ onCycle: (report) => void reports.push(report) }).stop)
  return reports
}

describeLibraries((stage) => {
  test.each(wrong)('is reported: $title', async ({ run }) => {
    const reports = watched()
    await run(stage.way, String((marks += 1)))
    expect(reports).toHaveLength(1)
    const places = reports[0]?.cycle.flatMap(({ fromPlace, toPlace }) => [fromPlace?.file, toPlace?.file])
    expect(places).toEqual(places?.map(() => expect.stringMatching(/^test\/(?:watch|deadlocks)\//)))
  })

  test.each(right)('is not reported: $title', async ({ run }) => {
    const reports = watched()
    await run(stage.way, String((marks += 1)))
    expect(reports).toEqual([])
  })

  test('what was refused is not held', async () => {
    const reports = watched()
    const { locks, run } = stage.way
    const rival = await stage.rival()
    await send(rival, change('stock', 0))
    await locks.transaction(async (tx) => {
      await run(tx, 'savepoint s')
      await caught(run(tx, 'select n from stock where id = 1 for update nowait'))
      await run(tx, 'rollback to savepoint s')
      await run(tx, change('orders', 0))
    }, once)
    await rival.rollback()
    await locks.transaction(async (tx) => {
      await run(tx, change('orders', 0))
      await run(tx, change('stock', 0))
    }, once)
    expect(reports).toEqual([])
  })

  test('of more locks than it remembers it says that something was left out', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'order-')), 'order.json')
    const { stop } = watchOrder({ file })
    await stage.way.locks.transaction(async (tx) => {
      for (let id = 1; id <= 49; id += 1) await stage.way.run(tx, change('stock', 0, id))
    }, once)
    stop()
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ isFull: true })
  })

  test('it can make the transaction reject, which is then rolled back, though another has frozen the event', async () => {
    const freeze = (event: unknown): void => void Object.freeze(event)
    subscribe('tracing:holdfast:transaction:start', freeze)
    onTestFinished(() => void unsubscribe('tracing:holdfast:transaction:start', freeze))
    const { stop } = watchOrder({ onCycle: 'throw' })
    onTestFinished(stop)
    const { locks, run } = stage.way
    await locks.transaction(async (tx) => {
      await run(tx, change('stock', 0))
      await run(tx, change('orders', 0))
    }, once)
    const error = await caught(
      locks.transaction(async (tx) => {
        await run(tx, change('orders', 5))
        await run(tx, change('stock', 5))
      }, once),
    )
    expect(error).toBeInstanceOf(LockUsageError)
    expect(String(error)).toMatch(
      /^LockUsageError: order: lock order: table (?:stock|orders) and then table /,
    )
    const session = await stage.engine.open()
    const rows = await session.run({ sql: 'select n from orders where id = 1', params: [] })
    expect(rows).toEqual([{ n: 0 }])
    await session.close()
  })
})

test('where one writes at a time, no two transactions wait for each other', async () => {
  const reports = watched()
  const db = new Database(':memory:')
  onTestFinished(() => void db.close())
  db.exec('create table stock (id integer primary key); create table orders (id integer primary key)')
  const locks = createLocks(db)
  for (const tables of [
    ['stock', 'orders'],
    ['orders', 'stock'],
  ])
    await locks.transaction(async (tx) => {
      for (const table of tables) tx.prepare(`delete from ${table} where id = 1`).run()
    })
  expect(reports).toEqual([])
})
