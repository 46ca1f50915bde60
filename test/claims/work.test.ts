import { describe, expect, test } from 'vitest'

import { LockLostError, LockUsageError } from '../../src/core/errors.ts'
import type { Job } from '../../src/locks/queue/job.ts'
import { queue } from '../../src/locks/queue/queue.ts'
import type { WorkReport } from '../../src/locks/queue/work-options.ts'
import { caught, gate } from '../entries/stage.ts'
import { inEnoughTime } from '../engines/enough-time.ts'
import { standStill } from '../engines/standstill.ts'
import { until } from '../engines/use.ts'
import { jobs, type JobRow } from './job-table.ts'
import { describeQueues, type QueueStage } from './stage.ts'

describe('a worker', () => {
  describeQueues(specs)
})

function specs(stage: QueueStage): void {
  const add = (count: number): Promise<void> =>
    stage.table.add(Array.from({ length: count }, (_, index) => ({ id: index + 1, priority: index % 3 })))
  const states = async (): Promise<string> => (await stage.table.all()).map(({ state }) => state).join(' ')
  const quiet = { idleMs: 50, onError: () => {} }

  test('does the jobs in their order, and stops when it is told', async () => {
    await add(7)
    const stop = new AbortController()
    const seen: number[] = []
    const report = await stage.shop.claims.work(
      jobs,
      ({ id }) => {
        seen.push(Number(id))
        if (seen.length === 7) stop.abort()
      },
      { signal: stop.signal, ...quiet },
    )
    expect(seen).toEqual([3, 6, 2, 5, 1, 4, 7])
    expect(report).toEqual({ done: 7, failed: 0, lost: 0, released: 0 })
    expect(await states()).toBe('done done done done done done done')
  })

  test('has as many jobs under way as it was told, and finds those that come later', async () => {
    await add(4)
    const stop = new AbortController()
    const { opened, open } = gate()
    let underWay = 0
    let most = 0
    const working = stage.shop.claims.work(
      jobs,
      async () => {
        most = Math.max(most, (underWay += 1))
        await opened
        underWay -= 1
      },
      { concurrency: 3, signal: stop.signal, ...quiet },
    )
    await until(() => underWay === 3, 'three jobs under way')
    open()
    await until(async () => (await states()) === 'done done done done', 'all done')
    await stage.table.add([{ id: 9 }])
    await until(async () => (await states()).endsWith('done') && underWay === 0, 'the late one too')
    stop.abort()
    expect(await working).toEqual({ done: 5, failed: 0, lost: 0, released: 0 })
    expect(most).toBe(3)
  })

  // a machine that stands still for longer than a job's time loses it, and rightly so: it gets more time then
  test('keeps a job that takes longer than its time', async () => {
    const report = await inEnoughTime([4000, 40_000, 80_000], keepLonger)
    expect(report).toEqual({ done: 1, failed: 0, lost: 0, released: 0 })
  })

  /** Works on a job until its claim was extended. */
  async function keepLonger(visibilityMs: number): Promise<WorkReport | undefined> {
    await stage.table.empty()
    await add(1)
    const [began, stop] = [performance.now(), new AbortController()]
    const { opened, open } = gate()
    const lostAt: number[] = []
    const working = stage.shop.claims.work(
      jobs,
      async ({ signal }) => {
        signal.addEventListener('abort', () => void lostAt.push(performance.now()))
        await opened
      },
      { visibilityMs, signal: stop.signal, ...quiet },
    )
    const row = async (): Promise<JobRow | undefined> => (await stage.table.all())[0]
    const claimedUntil = async (): Promise<number> => (await row())?.claimed_until ?? 0
    await until(async () => (await claimedUntil()) > 0, 'a claim')
    const first = await claimedUntil()
    await until(
      async () => lostAt.length > 0 || (await claimedUntil()) > first + 600,
      'a claim that was extended',
    )
    const others = lostAt.length > 0 ? [] : await stage.shop.claims.claim(jobs)
    open()
    await until(async () => (await row())?.state === 'done', 'a job that is done')
    stop.abort()
    const report = await working
    // timers may be a millisecond early
    const wasInTime = lostAt.every((at) => at - began < visibilityMs - 2)
    if (report.lost > 0 && !wasInTime) return undefined
    expect(others, 'nobody else gets it').toEqual([])
    return report
  }

  test('tells a handler that stood still for longer than its job has time as soon as it looks', async () => {
    await add(1)
    const stop = new AbortController()
    const seen: boolean[] = []
    const working = stage.shop.claims.work(
      jobs,
      async (job) => {
        stop.abort()
        standStill(1001)
        seen.push(job.signal.aborted)
        expect(await caught(job.complete())).toBeInstanceOf(LockLostError)
      },
      { visibilityMs: 1000, signal: stop.signal, ...quiet },
    )
    expect(await working).toMatchObject({ done: 0, lost: 1 })
    expect(seen).toEqual([true])
  })

  test('tells a handler that its job has gone to another, and refuses what it does too late', async () => {
    await add(1)
    const stop = new AbortController()
    const { opened, open } = gate()
    let late: unknown
    const working = stage.shop.claims.work(
      jobs,
      async (job) => {
        open()
        await until(() => job.signal.aborted, 'the signal')
        late = await caught(job.complete())
      },
      { visibilityMs: 1500, signal: stop.signal, ...quiet },
    )
    await opened
    stop.abort() // so that it claims nothing more
    await stage.table.set('claim_token', 'another')
    await stage.table.set('claimed_until', 9_999_999_999_999)
    await until(() => late !== undefined, 'the handler to be told')
    expect(late).toBeInstanceOf(LockLostError)
    expect(await working).toEqual({ done: 0, failed: 0, lost: 1, released: 0 })
    expect((await stage.table.all())[0]).toMatchObject({ state: 'ready', claim_token: 'another' })
  })

  test('gives up a handler that takes too long, and goes on with the next job', async () => {
    await add(2)
    const stop = new AbortController()
    let hung: Job<JobRow> | undefined
    const done: number[] = []
    const working = stage.shop.claims.work(
      jobs,
      async (job) => {
        if (hung !== undefined) return void done.push(Number(job.id))
        hung = job
        await new Promise(() => {}) // for ever
      },
      { timeoutMs: 200, signal: stop.signal, backoff: { baseMs: 60_000, random: () => 0.99 }, ...quiet },
    )
    await until(() => done.length === 1, 'the next job')
    expect(hung?.signal?.aborted).toBe(true)
    expect(await caught(hung?.complete() ?? Promise.resolve())).toBeInstanceOf(LockLostError)
    stop.abort()
    expect(await working).toEqual({ done: 1, failed: 1, lost: 0, released: 0 })
    const row = (await stage.table.all()).find(({ id }) => id === Number(hung?.id))
    expect(row, 'it can be claimed again later').toMatchObject({ state: 'ready', claim_token: null })
    expect(row?.claimed_until).toBeGreaterThan(Date.now())
  })

  test('warns of a job that failed: which one of which table, the attempt, and where', async () => {
    await add(1)
    const stop = new AbortController()
    const boom = new Error('no mail server')
    const warnings: (Error & { readonly detail?: string })[] = []
    const hear = (warning: Error): void => void (warning.cause === boom && warnings.push(warning))
    process.on('warning', hear)
    const handler = (): never => {
      stop.abort()
      throw boom
    }
    await stage.shop.claims.work(jobs, handler, { signal: stop.signal })
    await until(() => warnings.length > 0, 'a warning').finally(() => process.off('warning', hear))
    expect(warnings).toEqual([
      expect.objectContaining({
        name: 'HoldfastWarning',
        message: 'job 1 of job, attempt 1 of 3, failed: Error: no mail server',
        detail: boom.stack,
        cause: boom,
      }),
    ])
  })

  test('survives whatever a handler throws, and a listener that fails', async () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const toString = (): never => {
      throw new Error('no words')
    }
    const thrown = [proxy, Object.create(null), { toString }, undefined] as readonly unknown[]
    await add(thrown.length)
    const stop = new AbortController()
    let told = 0
    const warnings: string[] = []
    const hear = ({ message }: Error): void => void warnings.push(message)
    process.on('warning', hear)
    const report = await stage.shop.claims.work(
      jobs,
      ({ id }) => {
        throw thrown[Number(id) - 1]
      },
      {
        signal: stop.signal,
        backoff: { baseMs: 60_000, random: () => 0.99 },
        onError: async () => {
          if ((told += 1) === thrown.length) stop.abort()
          throw new Error('no log server')
        },
      },
    )
    const warned = 'onError failed for job 4 of job, attempt 1 of 3: Error: no log server'
    await until(() => warnings.includes(warned), 'a warning').finally(() => process.off('warning', hear))
    expect(report).toMatchObject({ done: 0, failed: 4, lost: 0, released: 0 })
    expect((await stage.table.all()).map((row) => row.claim_token)).toEqual([null, null, null, null])
  })

  test('lets the jobs under way finish when it is stopped', async () => {
    await add(3)
    const stop = new AbortController()
    const { opened, open } = gate()
    let started = 0
    const working = stage.shop.claims.work(
      jobs,
      async () => {
        started += 1
        await opened
      },
      { concurrency: 2, signal: stop.signal, ...quiet },
    )
    await until(() => started === 2, 'two jobs under way')
    stop.abort()
    open()
    expect(await working).toEqual({ done: 2, failed: 0, lost: 0, released: 0 })
    expect(await states()).toBe('ready done done')
  })

  /** Stops a worker whose handler never ends. */
  async function stopHanging(beforeStop = async (): Promise<void> => {}): Promise<WorkReport> {
    const stop = new AbortController()
    const started = gate()
    const working = stage.shop.claims.work(
      jobs,
      async () => {
        started.open()
        await new Promise(() => {}) // for ever
      },
      { signal: stop.signal, shutdownMs: 300, ...quiet },
    )
    await started.opened
    await beforeStop()
    stop.abort()
    return working
  }

  test('gives back the jobs that do not finish in time when it is stopped', async () => {
    await add(2)
    expect(await stopHanging()).toEqual({ done: 0, failed: 0, lost: 0, released: 1 })
    expect(await states()).toBe('ready ready')
    const rows = await stage.table.all()
    expect(rows.map(({ claim_token }) => claim_token)).toEqual([null, null])
  })

  test('counts as lost what it could not give back when it is stopped', async () => {
    await add(1)
    const report = await stopHanging(() => stage.table.set('claim_token', 'another'))
    expect(report).toEqual({ done: 0, failed: 0, lost: 1, released: 0 })
    expect((await stage.table.all())[0]).toMatchObject({ claim_token: 'another' })
  })

  test('leaves a job alone that its handler ended itself', async () => {
    await add(2)
    const stop = new AbortController()
    const handled = new Set<number>()
    const working = stage.shop.claims.work(
      jobs,
      async (job) => {
        await (Number(job.id) === 1 ? job.release({ delayMs: 60_000 }) : job.complete())
        handled.add(Number(job.id))
      },
      { concurrency: 2, signal: stop.signal, ...quiet },
    )
    await until(() => handled.size === 2, 'both')
    stop.abort()
    expect(await working).toEqual({ done: 1, failed: 0, lost: 0, released: 1 })
    expect(await states()).toBe('ready done')
  })

  test('does not wait for ever for a handler that has ended its job itself, when it is told to stop', async () => {
    expect(await workForEver(1)).toEqual({ done: 1, failed: 0, lost: 0, released: 0 })
  })

  test('does not wait for ever for a handler that has ended its job itself, when its time is over', async () => {
    const report = await inEnoughTime([300, 3000, 30_000], (timeoutMs) => workForEver(2, timeoutMs))
    expect(report).toEqual({ done: 2, failed: 0, lost: 0, released: 0 })
  })

  /** With a limit, one at a time: the second begins when the first is given up. */
  async function workForEver(count: number, timeoutMs?: number): Promise<WorkReport | undefined> {
    await stage.table.empty()
    await add(count)
    const stop = new AbortController()
    let [ended, late] = [0, 0]
    const working = stage.shop.claims.work(
      jobs,
      async (job) => {
        const { signal } = job
        await job.complete().catch((error: unknown) => {
          if (!signal.aborted) throw error
        })
        if (signal.aborted) late += 1
        ended += 1
        await new Promise(() => {}) // for ever
      },
      { signal: stop.signal, shutdownMs: 300, ...(timeoutMs !== undefined && { timeoutMs }), ...quiet },
    )
    await until(() => ended >= count, 'the jobs ended by their handler')
    stop.abort()
    const report = await working
    return late > 0 ? undefined : report
  }

  test('believes no end in a transaction that was rolled back, and gives the job back', async () => {
    await add(3)
    const { claims, transaction } = stage.shop
    const stop = new AbortController()
    const errors: string[] = []
    let handled = 0
    const working = claims.work(
      jobs,
      async (job) => {
        const end = transaction(async (tx) => {
          await (Number(job.id) === 3 ? job.release({ tx, delayMs: 60_000 }) : job.complete({ tx }))
          if (Number(job.id) === 2) throw new Error('no money')
        })
        await end.catch(() => {})
        if ((handled += 1) === 3) stop.abort()
      },
      {
        signal: stop.signal,
        backoff: { baseMs: 60_000, random: () => 0.99 },
        onError: (error) => errors.push(String(error)),
      },
    )
    expect(await working).toEqual({ done: 1, failed: 1, lost: 0, released: 1 })
    expect(errors).toEqual([expect.stringContaining('was rolled back')])
    const rows = await stage.table.all()
    expect(rows.map(({ state }) => state)).toEqual(['done', 'ready', 'ready'])
    expect(rows.map(({ claim_token }) => claim_token)).toEqual([null, null, null])
  })

  test('ends with an error when the table is not as described, and says what is wrong with its options', async () => {
    const { claims } = stage.shop
    for (const [field, options] of Object.entries({
      concurrency: { concurrency: 0 },
      idleMs: { idleMs: 0 },
      timeoutMs: { timeoutMs: -1 },
      patience: { patience: 1 },
    })) {
      const working = (async () => claims.work(jobs, () => {}, options))()
      expect(await caught(working)).toMatchObject({ name: 'LockUsageError', field })
    }
    if (stage.isDocuments) return
    const wrong = queue({
      table: 'job',
      id: 'id',
      orderBy: 'nothing',
      claim: { token: 'claim_token', until: 'claimed_until' },
      done: 'delete',
    })
    expect(await caught(claims.work(wrong, () => {}))).toBeInstanceOf(LockUsageError)
  })
}
