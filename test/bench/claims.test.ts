import { existsSync } from 'node:fs'

import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { measuredJobs, openQueueStage, type QueueStage } from '../../bench/queue-stage.ts'
import { readers } from '../../bench/reads/readers.ts'
import type { ClaimReads } from '../../bench/reads/claim-reads.ts'
import { describeEngines } from '../engines/use.ts'

const few = { done: 1000, ready: 300 }
const many = { done: 20_000, ready: 300 }

/** The file through which Linux tells what a process has read: there is no other way to count for SQLite. */
const canCount = (name: string): boolean => name !== 'sqlite' || existsSync('/proc/self/io')

describe('what a claim reads', () => {
  describeEngines(
    (context) => {
      let stages: readonly QueueStage[] = []
      beforeAll(async () => {
        const { kind, server } = context
        stages = [await openQueueStage(kind, server, few), await openQueueStage(kind, server, many)]
      })
      afterAll(async () => {
        for (const stage of stages) await stage.close()
      })

      const readsOf = async (limit: number): Promise<readonly ClaimReads[]> => {
        const reads: ClaimReads[] = []
        for (const stage of stages) {
          const read = await readers[stage.name]?.(stage, limit)
          if (read !== undefined) reads.push(read)
        }
        return reads
      }

      test.skipIf(!canCount(context.name))(
        'grows with the jobs that are done, without the index',
        async () => {
          const [small, large] = await readsOf(1)
          expect(large?.count, `${small?.plan} | ${large?.plan}`).toBeGreaterThan(5 * Number(small?.count))
        },
      )

      test.skipIf(!canCount(context.name)).each([1, 10])(
        'does not grow with them, with the index that is advised, for %i at a time',
        async (limit) => {
          for (const stage of stages) await stage.addIndex()
          try {
            const [small, large] = await readsOf(limit)
            expect(small?.count).toBeGreaterThan(0)
            // a tree may be one page deeper
            expect(large?.count, `${small?.plan} | ${large?.plan}`).toBeLessThanOrEqual(
              Number(small?.count) + 4,
            )
          } finally {
            for (const stage of stages) await stage.dropIndex()
          }
        },
      )

      test.skipIf(context.name === 'sqlite')('grows with the jobs that are under way in front', async () => {
        const [stage] = stages
        if (stage === undefined) return
        await stage.addIndex()
        const before = await readers[stage.name]?.(stage, 1)
        const jobs = await stage.shop.claims.claim(measuredJobs, { limit: 50 })
        const behind = await readers[stage.name]?.(stage, 1)
        expect(behind?.count).toBeGreaterThanOrEqual(Number(before?.count) + 50)
        for (const job of jobs) await job.complete()
        const after = await readers[stage.name]?.(stage, 1)
        expect(after?.count).toBeLessThanOrEqual(Number(before?.count) + 4)
      })
    },
    { only: Object.keys(readers) },
  )

  describeEngines(
    (context) => {
      test('is too much for a condition with several values, and the warning stays', async () => {
        const { kind, server } = context
        const stage = await openQueueStage(kind, server, few)
        try {
          const { shape } = measuredJobs
          const where = [{ column: 'state', values: ['ready', 'again'] }]
          const twoStates = { ...measuredJobs, shape: { ...shape, where } }
          await stage.addIndex(twoStates)
          expect((await stage.shop.claims.adviseIndexes(twoStates)).warning).toMatch(/^a claim is slow: /)
        } finally {
          await stage.close()
        }
      })
    },
    { only: ['mysql', 'mariadb', 'mongodb'] },
  )
})
