import { expect, test } from 'vitest'

import { CommitOutcomeUnknownError } from '../../src/core/errors.ts'
import type { Cluster } from '../engines/cluster.ts'
import { useExtraServer } from '../engines/extra-server.ts'
import { caught } from '../entries/stage.ts'
import { leaseSpecs } from './lease-specs.ts'
import { rowSpecs } from './row-specs.ts'
import { crew, jobs, openStage, workers } from './stage.ts'

/** What must hold on every cluster in which several servers take writes and meet only when they commit. */
export function clusterSpecs(start: () => Promise<Cluster>): void {
  const stage = useExtraServer(async () => openStage(await start()))
  rowSpecs(stage)
  leaseSpecs(stage)

  test('every job is claimed once, and done once', async ({ skip }) => {
    const { first, of, agree } = stage(skip)
    const count = 60
    const ids = Array.from({ length: count }, (_, id) => [id, 'ready'])
    await first.pool.query('insert into job (id, state) values ?', [ids])
    await agree('select cast(count(*) as signed) from job', count)
    const claimed: number[] = []
    await crew(workers, async (worker) => {
      for (;;) {
        const got = await of(worker).locks.claim(jobs, { limit: 3, visibilityMs: 600_000 })
        if (got.length === 0) return
        claimed.push(...got.map(({ row }) => row.id))
        for (const job of got) await job.complete()
      }
    })
    expect(claimed.toSorted((a, b) => a - b)).toEqual(ids.map(([id]) => id))
    await agree("select cast(count(*) as signed) from job where state = 'done'", count)
  })

  test('what is to be done once is done once', async ({ skip }) => {
    const { first, of, agree } = stage(skip)
    await first.pool.query('delete from mark')
    const results = await crew(workers, (worker) => {
      const { locks } = of(worker)
      return locks.transaction((tx) =>
        locks.once(tx, 'message', async () => void (await tx.query('insert into mark values (?)', [worker]))),
      )
    })
    expect(results.filter(({ isFirst }) => isFirst)).toHaveLength(1)
    await agree('select cast(count(*) as signed) from mark', 1)
  })

  test('named locks and table locks are refused, and the lease is named', async ({ skip }) => {
    for (const { locks } of stage(skip).nodes) {
      const refusal = { name: 'UnsupportedLockError', instead: 'locks.lease(...)' }
      expect(await caught(locks.withLock('name', async () => {}))).toMatchObject(refusal)
      expect(await caught(locks.acquire('name'))).toMatchObject(refusal)
      expect(await caught(locks.transaction(async () => {}, { tables: 'mark' }))).toMatchObject(refusal)
    }
  })

  test('a COMMIT that the other server does not confirm is told as unknown, and waits for nobody for ever', async ({
    skip,
  }) => {
    const { first, second, agree } = stage(skip)
    await first.pool.query('delete from mark')
    await agree('select cast(count(*) as signed) from mark', 0)
    const leave = (id: string): Promise<void> =>
      first.locks.transaction(async (tx) => void (await tx.query('insert into mark values (?)', [id])), {
        budgetMs: 3000,
      })
    await second.server.freeze?.()
    const unconfirmed = await caught(leave('unconfirmed'))
    await second.server.thaw?.()
    expect(unconfirmed).toBeInstanceOf(CommitOutcomeUnknownError)
    // what comes behind it says that its fate is decided
    await first.pool.query("insert into mark values ('behind')")
    await agree("select cast(count(*) as signed) from mark where id = 'behind'", 1)
    const isStored = "select cast(count(*) as signed) from mark where id = 'unconfirmed'"
    expect(await first.ask(isStored)).toBe(await second.ask(isStored))
  })
}
