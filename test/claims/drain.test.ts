import { describe, expect, test } from 'vitest'

import { until } from '../engines/use.ts'
import { effectOf, jobs } from './job-table.ts'
import { startShift } from './shift.ts'
import { describeQueues, type QueueStage } from './stage.ts'

/** `HOLDFAST_JOBS=20000 HOLDFAST_PROCESSES=4` is the story in its full size. */
const count = Number(process.env.HOLDFAST_JOBS ?? 600)
const processes = Number(process.env.HOLDFAST_PROCESSES ?? 2)
const workers = 16 / processes
const kills = processes - 1
const patience = { timeout: 600_000 }

describe('16 workers in several processes', () => {
  describeQueues(
    (stage) => {
      test(
        'do every job exactly once, though some processes are killed with their jobs',
        patience,
        async () => {
          await fill(stage)
          await addIndex(stage)
          const began = performance.now()
          const { engine } = stage
          const shift = await startShift({
            engine: stage.name,
            url: engine.server.url,
            processes,
            workers,
            visibilityMs: 2000,
          })
          let seconds = 0
          const killed: string[] = []
          try {
            for (let kill = 1; kill <= kills; kill += 1) {
              const share = Math.floor((count * kill) / (kills + 2))
              await until(
                async () => count - (await stage.table.countReady()) >= share,
                `${share} jobs done`,
                300_000,
              )
              await shift.kill(await busiest(stage, killed))
            }
            await until(async () => (await stage.table.countReady()) === 0, 'all jobs done', 300_000)
            seconds = (performance.now() - began) / 1000
            await shift.stop()
          } finally {
            shift.end()
          }
          await checkAllDone(stage, !stage.isDocuments)
          expect(shift.failures).toEqual([])
          const again = (await stage.table.all()).filter(({ attempts }) => attempts > 1).length
          const names = new Set((await stage.table.effects()).map(({ worker }) => worker))
          expect(names.size, 'more than one process has worked').toBeGreaterThan(1)
          console.log(
            `${stage.name}: ${count} jobs in ${seconds.toFixed(1)} s, ${Math.round(count / seconds)} a second; ` +
              `${kills} processes killed, ${again} jobs claimed again`,
          )
        },
      )
    },
    { only: ['postgres', 'mysql', 'mariadb', 'sqlite', 'mongodb'] },
  )
})

describe('16 workers in one process', () => {
  describeQueues((stage) => {
    test('do every job exactly once', patience, async () => {
      await fill(stage, 300)
      const { claims, transaction } = stage.shop
      const stop = new AbortController()
      let done = 0
      const failures: unknown[] = []
      const report = await claims.work(
        jobs,
        async (job) => {
          await transaction(async (tx, run) => {
            await run(effectOf(stage.isDocuments, Number(job.id), 'w'))
            await job.complete({ tx })
          })
          done += 1
          if (done === 300) stop.abort()
        },
        { concurrency: 16, signal: stop.signal, idleMs: 50, onError: (error) => failures.push(error) },
      )
      await checkAllDone(stage)
      expect(failures).toEqual([])
      expect(report).toEqual({ done: 300, failed: 0, lost: 0, released: 0 })
    })
  })
})

/**
 * The process that has done most so far, of those that live: whoever is killed has worked, and others have to do what
 * it leaves. One process may well do all of the work on an engine with a single writer.
 */
async function busiest({ table }: QueueStage, killed: string[]): Promise<string> {
  const done = new Map<string, number>()
  for (const { worker } of await table.effects())
    done.set(String(worker), (done.get(String(worker)) ?? 0) + 1)
  const [[name] = ['none']] = [...done]
    .filter(([one]) => !killed.includes(one))
    .toSorted((a, b) => b[1] - a[1])
  killed.push(name)
  return name
}

async function addIndex({ shop, table, isDocuments }: QueueStage): Promise<void> {
  const { statements } = await shop.claims.adviseIndexes(jobs)
  for (const sql of statements)
    await table.run(isDocuments ? { command: JSON.parse(sql) } : { sql, params: [] })
}

async function fill({ table }: QueueStage, jobCount = count): Promise<void> {
  await table.add(Array.from({ length: jobCount }, (_, index) => ({ id: index + 1, priority: index % 5 })))
}

/** Each job is done, and has had one effect; where effect and end are two steps, at most one for each claim. */
async function checkAllDone({ table }: QueueStage, isAtomic = true): Promise<void> {
  const rows = await table.all()
  expect(rows.filter(({ state, claim_token }) => state !== 'done' || claim_token !== null)).toEqual([])
  const effects = new Map<number, number>()
  for (const { id } of await table.effects()) effects.set(Number(id), (effects.get(Number(id)) ?? 0) + 1)
  const wrong = rows.filter(({ id, attempts }) => {
    const had = effects.get(id) ?? 0
    return isAtomic ? had !== 1 : had < 1 || had > attempts
  })
  expect(wrong).toEqual([])
}
