import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { beforeAll, expect, test } from 'vitest'

import { RetryableTransactionError } from '../../src/core/errors.ts'
import { createLocks } from '../../src/entries/duckdb.ts'
import type { Locks } from '../../src/locks.ts'
import { registry } from '../../src/registry.ts'
import { loadDuckdb } from '../engines/duckdb-driver.ts'
import { describeEngines, type EngineContext } from '../engines/use.ts'
import { caught, gate } from './stage.ts'
import { counterOf } from './subject.ts'

describeEngines(specs, { only: ['duckdb'] })

const target = counterOf('duckdb')

function specs(context: EngineContext): void {
  let instance: DuckDBInstance
  let locks: Locks<DuckDBConnection, 'duckdb'>
  beforeAll(async () => {
    instance = await (await loadDuckdb()).DuckDBInstance.fromCache(context.engine.server.url)
    locks = createLocks(instance)
    const session = await context.engine.open()
    for (const statement of context.kind.sample.setUp) await session.run(statement)
    await session.close()
  })
  const increment = (tx: DuckDBConnection): Promise<unknown> =>
    tx.run('update counter set n = n + 1 where id = 1')
  const seen = async (): Promise<unknown> => {
    const session = await context.engine.open()
    return (await session.run(context.kind.sample.read).finally(() => session.close()))[0]?.n
  }

  test('an error of its own statement that the work has caught is not taken for stored', async () => {
    const before = await seen()
    const work = async (tx: DuckDBConnection): Promise<void> => {
      await increment(tx)
      await tx.run("select cast('x' as integer)").catch(() => {})
    }
    await expect(locks.transaction(work)).rejects.toMatchObject({
      name: 'LockUsageError',
      field: 'transaction',
    })
    expect(await seen()).toBe(before)
  })

  test('a guard row that somebody has deleted is made again', async () => {
    const lockRow = (): Promise<unknown> =>
      locks.transaction((tx) => locks.rows(tx, target), { budgetMs: 5_000 })
    await lockRow()
    const session = await context.engine.open()
    await session.run({ sql: 'delete from _leases', params: [] })
    await session.close()
    await lockRow()
  })

  test('a conflict at every attempt is the one retryable class', async () => {
    const [began, ending] = [gate(), gate()]
    const winner = locks.transaction(async (tx) => {
      await increment(tx)
      began.open()
      await ending.opened
    })
    await began.opened
    const lost = await caught(locks.transaction(increment, { attempts: 2, backoff: { baseMs: 1 } }))
    expect(lost).toBeInstanceOf(RetryableTransactionError)
    expect(lost).toMatchObject({ kind: 'write-conflict' })
    ending.open()
    await winner
  })

  test("an abort ends the work's own statement, and the next transaction works", async () => {
    const before = Number(await seen())
    const leaving = new AbortController()
    const reason = new Error('no longer wanted')
    let own: Promise<unknown> = Promise.resolve()
    const work = async (tx: DuckDBConnection): Promise<void> => {
      await increment(tx)
      own = caught(tx.run('select count(*) from range(100000000000)'))
      setImmediate(() => leaving.abort(reason))
      await own
    }
    expect(await caught(locks.transaction(work, { signal: leaving.signal }))).toBe(reason)
    expect(await own).toBeInstanceOf(Error)
    await locks.transaction(increment)
    expect(await seen()).toBe(before + 1)
  })

  test('isolation is what was asked: a transaction reads as of one moment, and serializable is refused', async () => {
    const read = async (tx: DuckDBConnection): Promise<unknown> =>
      (await tx.runAndReadAll('select n from counter where id = 1')).getRowObjectsJS()[0]?.n
    await locks.transaction(
      async (tx) => {
        const before = await read(tx)
        await createLocks(instance).transaction(increment)
        expect(await read(tx)).toBe(before)
      },
      { isolation: 'snapshot' },
    )
    await expect(locks.transaction(read, { isolation: 'serializable' })).rejects.toMatchObject({
      field: 'isolation',
    })
  })

  test('skipping locked rows is refused with the declared reason', async () => {
    const { reason } = registry.duckdb.cells['skip-locked']
    // @ts-expect-error DuckDB has no row locks to skip
    const refused = locks.transaction((tx) => locks.rows(tx, target, { wait: 'skip' }))
    await expect(refused).rejects.toMatchObject({ name: 'UnsupportedLockError', reason })
  })

  test('an abort between preparing and running a statement neither freezes the process nor lets it run', async () => {
    for (let round = 0; round < 30; round += 1) {
      const controller = new AbortController()
      const prepared: Promise<unknown>[] = []
      const work = locks.transaction(
        async (tx) => {
          const query = async (): Promise<unknown> => {
            const statement = await tx.prepare('select $1::integer')
            statement.bindInteger(1, round)
            return statement.run()
          }
          prepared.push(...Array.from({ length: 4 }, () => caught(query())))
          await Promise.race([tx.run('select 1'), ...prepared])
          controller.abort(new Error('enough'))
          await Promise.all(prepared)
          await tx.run('select 2')
        },
        { signal: controller.signal },
      )
      await expect(work).rejects.toThrow('enough')
      await Promise.all(prepared)
    }
  })
}
