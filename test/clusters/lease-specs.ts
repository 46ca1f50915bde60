import type { PoolConnection, RowDataPacket } from 'mysql2/promise'
import { expect, test } from 'vitest'

import { LockLostError, LockNotAvailableError, RetryableTransactionError } from '../../src/core/errors.ts'
import type { Session } from '../../src/core/session.ts'
import { isSql } from '../../src/core/statement.ts'
import type { Lease } from '../../src/locks/lease/lease.ts'
import { registry } from '../../src/registry.ts'
import { caught } from '../entries/stage.ts'
import { crew, workers, type Stage, type UseStage } from './stage.ts'

/** Leases, and what is written under them. */
export function leaseSpecs(stage: UseStage): void {
  test('a lease has one holder on all servers, and its fence rises with every holder', async ({ skip }) => {
    const { of } = stage(skip)
    let inside = 0
    const fences: number[] = []
    await crew(workers, async (worker) => {
      for (let round = 0; round < 5; round += 1) {
        const lease = await of(worker).locks.lease('one-holder', { ttlMs: 60_000 })
        inside += 1
        expect(inside).toBe(1)
        fences.push(lease.fence)
        await of(worker).ask('select 1')
        inside -= 1
        await lease.release()
      }
    })
    expect(fences).toHaveLength(workers * 5)
    expect(fences).toEqual([...new Set(fences)].toSorted((a, b) => a - b))
  })

  test('of many who ask for a lease that nobody ever had, one gets it', async ({ skip }) => {
    const { of } = stage(skip)
    for (let round = 0; round < 10; round += 1) {
      const given: Lease[] = []
      const answers = await crew(workers, (worker) => {
        const asked = of(worker).locks.lease(`new-${round}`, { ttlMs: 60_000, wait: 'nowait' })
        return caught(asked.then((lease) => given.push(lease)))
      })
      expect(given).toHaveLength(1)
      expect(answers.filter((answer) => answer instanceof LockNotAvailableError)).toHaveLength(workers - 1)
      for (const lease of given) await lease.release()
    }
  })

  /** Gives the first server a change to apply that takes a while; what the second stores next comes behind it. */
  const keepBusy = async ({ second }: Stage): Promise<void> => {
    await second.pool.query('update big set n = n + 1')
  }

  test('a fenced transaction is not stored once another server has given its lease to somebody else', async ({
    skip,
  }) => {
    const all = stage(skip)
    const { first, second, agree } = all
    await first.pool.query('delete from mark')
    const lease = await first.locks.lease('given-away', { ttlMs: 600_000 })
    const row = "from _leases where name like '%given-away%'"
    await agree(`select cast(count(*) as signed) ${row}`, 1)
    await second.pool.query("update _leases set expires_at = 1 where name like '%given-away%'")
    await agree(`select expires_at ${row}`, 1)
    let next: Lease | undefined
    const late = first.locks.fenced(lease, async (tx) => {
      await tx.query("insert into mark values ('late')")
      await keepBusy(all)
      next = await second.locks.lease('given-away', { ttlMs: 600_000, wait: 'nowait' })
    })
    expect(await caught(late)).toBeInstanceOf(LockLostError)
    expect(next?.fence).toBeGreaterThan(lease.fence)
    await agree('select cast(count(*) as signed) from mark', 0)
    await next?.release()
    await lease.release() // it frees nobody else's
  })

  test('a fence of a lease that is kept elsewhere is refused once another server has seen a higher one', async ({
    skip,
  }) => {
    const all = stage(skip)
    const { first, second, agree } = all
    const admit = async ({ run }: Pick<Session, 'run'>, fence: number): Promise<void> => {
      for (const statement of registry.mysql.lease.admit?.('elsewhere', fence) ?? []) await run(statement)
    }
    const runOn = (connection: PoolConnection): Pick<Session, 'run'> => ({
      run: async (statement) => {
        if (!isSql(statement)) throw new Error('not SQL')
        const [rows] = await connection.query<RowDataPacket[]>(statement.sql, [...statement.params])
        return rows
      },
    })
    await first.pool.query('delete from mark')
    await first.locks.transaction((tx) => admit(runOn(tx), 5))
    await agree("select fence from _leases where name = 'elsewhere'", 5)
    const late = first.locks.transaction(
      async (tx) => {
        await admit(runOn(tx), 5)
        await tx.query("insert into mark values ('late')")
        await keepBusy(all)
        await second.locks.transaction((other) => admit(runOn(other), 6))
      },
      { attempts: 1 },
    )
    expect(await caught(late)).toBeInstanceOf(RetryableTransactionError)
    await agree('select cast(count(*) as signed) from mark', 0)
  })
}
