import type { PoolConnection, RowDataPacket } from 'mysql2/promise'
import { expect, test } from 'vitest'

import { RetryableTransactionError } from '../../src/core/errors.ts'
import { caught, gate } from '../entries/stage.ts'
import { crew, workers, type Node, type UseStage } from './stage.ts'

const rounds = 25

/** What row locks are worth between two servers. */
export function rowSpecs(stage: UseStage): void {
  const add = async ({ locks }: Node, tx: PoolConnection, id: number): Promise<void> => {
    const [row] = await locks.rows<{ n: number }>(tx, { table: 'counter', key: { id } })
    await tx.query('update counter set n = ? where id = ?', [Number(row?.n) + 1, id])
  }

  test('eight workers on two servers read, decide and write under row locks, and nothing is lost', async ({
    skip,
  }) => {
    const { first, of, agree } = stage(skip)
    await first.pool.query('update counter set n = 0')
    let retries = 0
    const onRetry = (): void => void (retries += 1)
    await crew(workers, async (worker) => {
      const node = of(worker)
      for (let stored = 0; stored < rounds;) {
        const id = 1 + ((worker + stored) % 4)
        const done = await caught(node.locks.transaction((tx) => add(node, tx, id), { onRetry }))
        if (done === 'no error') stored += 1
        // it has lost all of its attempts, and has stored nothing
        else expect(done).toBeInstanceOf(RetryableTransactionError)
      }
    })
    await agree('select cast(sum(n) as signed) from counter', workers * rounds)
    expect(retries).toBeGreaterThan(0)
  })

  test('two servers give the same row at once, and the second to commit is told to run again', async ({
    skip,
  }) => {
    const { first, second, agree } = stage(skip)
    await first.pool.query('update counter set n = 0')
    await agree('select cast(sum(n) as signed) from counter', 0)
    const seen: unknown[] = []
    await first.locks.transaction(
      async (tx) => {
        await first.locks.rows(tx, { table: 'counter', key: { id: 1 } })
        if (seen.length === 0) await second.locks.transaction((other) => add(second, other, 1))
        await add(first, tx, 1)
      },
      { onRetry: ({ error }) => void seen.push(error) },
    )
    expect(seen).toEqual([expect.any(RetryableTransactionError)])
    await agree('select n from counter where id = 1', 2)
  })

  test('without another attempt that conflict is an error, and nothing of the loser is stored', async ({
    skip,
  }) => {
    const { first, second, agree } = stage(skip)
    await first.pool.query('update counter set n = 0')
    await agree('select cast(sum(n) as signed) from counter', 0)
    const loser = first.locks.transaction(
      async (tx) => {
        await first.locks.rows(tx, { table: 'counter', key: { id: 1 } })
        await second.locks.transaction((other) => add(second, other, 1))
        await add(first, tx, 1)
      },
      { attempts: 1 },
    )
    expect(await caught(loser)).toBeInstanceOf(RetryableTransactionError)
    await agree('select n from counter where id = 1', 1)
  })

  test('without a row lock the same work loses an addition, and nobody is told', async ({ skip }) => {
    const { first, second, agree } = stage(skip)
    await first.pool.query('update counter set n = 0')
    await agree('select cast(sum(n) as signed) from counter', 0)
    await first.locks.transaction(async (tx) => {
      const [rows] = await tx.query<RowDataPacket[]>('select n from counter where id = 1')
      await second.locks.transaction((other) => add(second, other, 1))
      await agree('select n from counter where id = 1', 1)
      await tx.query('update counter set n = ? where id = 1', [Number(rows[0]?.n) + 1])
    })
    await agree('select n from counter where id = 1', 1)
  })

  test('a row that is locked and not written keeps nobody out on the other server', async ({ skip }) => {
    const { first, second, agree } = stage(skip)
    await first.pool.query('delete from mark')
    const leave = async ({ locks }: Node, tx: PoolConnection, id: string): Promise<void> => {
      await locks.rows(tx, { table: 'counter', key: { id: 1 } }, { wait: 'nowait' })
      await tx.query('insert into mark values (?)', [id])
    }
    const [began, ending] = [gate(), gate()]
    const one = first.locks.transaction(
      async (tx) => {
        await leave(first, tx, 'first')
        began.open()
        await ending.opened
      },
      { attempts: 1 },
    )
    await began.opened
    await second.locks.transaction((tx) => leave(second, tx, 'second'), { attempts: 1 })
    ending.open()
    await one
    await agree('select cast(count(*) as signed) from mark', 2)
  })
}
