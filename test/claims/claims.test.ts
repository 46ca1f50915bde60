import { expect, test } from 'vitest'

import { LockLostError, LockUsageError } from '../../src/core/errors.ts'
import type { Queue } from '../../src/locks/queue/queue-definition.ts'
import { queue } from '../../src/locks/queue/queue.ts'
import type { Job } from '../../src/locks/queue/job.ts'
import { caught } from '../entries/stage.ts'
import { jobs, patientJobs, type JobRow } from './job-table.ts'
import { describeAllQueues, type QueueStage } from './stage.ts'

const ids = (taken: readonly Job<JobRow>[]): readonly number[] => taken.map(({ id }) => Number(id))

/** A queue whose order only the server knows. */
const byTitle = queue<JobRow>({
  table: 'job',
  id: 'id',
  orderBy: [{ column: 'title', direction: 'desc' }, 'id'],
  where: { state: ['ready', 'again'] },
  claim: { token: 'claim_token', until: 'claimed_until' },
  done: 'delete',
})

describeAllQueues(specs)

function specs(stage: QueueStage): void {
  const add = (count: number): Promise<void> =>
    stage.table.add(Array.from({ length: count }, (_, index) => ({ id: index + 1, priority: index % 3 })))
  const one = async (): Promise<Job<JobRow>> => {
    const [job] = await stage.shop.claims.claim(jobs, { worker: 'w1' })
    if (job === undefined) throw new Error('no job was claimed')
    return job
  }
  const rowOf = async (id: number): Promise<JobRow | undefined> =>
    (await stage.table.all()).find((row) => row.id === id)
  /** As if the time of every claim were over. */
  const expire = (): Promise<void> => stage.table.set('claimed_until', 1)

  test('a claim gives a job that nobody else gets, with the row as it is now', async () => {
    await add(1)
    const job = await one()
    expect(job).toMatchObject({ id: 1, attempts: 1, row: { id: 1, state: 'ready', claimed_by: 'w1' } })
    expect(job.row.claim_token).toBe(job.token)
    expect(await stage.shop.claims.claim(jobs)).toEqual([])
  })

  test('an empty queue gives no jobs', async () => {
    expect(await stage.shop.claims.claim(jobs, { limit: 10 })).toEqual([])
  })

  test('a batch comes in the order of the queue, and the next one goes on behind it', async () => {
    await add(7)
    expect(ids(await stage.shop.claims.claim(jobs, { limit: 4 }))).toEqual([3, 6, 2, 5])
    expect(ids(await stage.shop.claims.claim(jobs, { limit: 4 }))).toEqual([1, 4, 7])
  })

  test('an order that only the server knows is kept too', async () => {
    const titles = ['b', 'a', 'd', 'c', 'b']
    await stage.table.add(
      titles.map((title, index) => ({ id: index + 1, title, state: index === 2 ? 'again' : 'ready' })),
    )
    expect(ids(await stage.shop.claims.claim(byTitle, { limit: 10 }))).toEqual([3, 4, 1, 5, 2])
  })

  test('claims at the same time are disjoint, and leave nothing', async () => {
    await add(60)
    const taken = await Promise.all(
      Array.from({ length: 12 }, () => stage.shop.claims.claim(jobs, { limit: 5 })),
    )
    const all = taken.flatMap(ids)
    expect(new Set(all).size, 'no job twice').toBe(all.length)
    const rest = await drain(stage)
    expect([...all, ...rest].toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, i) => i + 1))
  })

  test('rows that are not of the queue are left alone', async () => {
    await stage.table.add([{ id: 1, state: 'done' }, { id: 2 }, { id: 3, state: 'again' }])
    expect(ids(await stage.shop.claims.claim(jobs, { limit: 10 }))).toEqual([2])
  })

  test('a job that is done is no longer in the queue, and says who did it', async () => {
    await add(1)
    await (await one()).complete()
    expect(await rowOf(1)).toMatchObject({
      state: 'done',
      claim_token: null,
      claimed_until: null,
      claimed_by: 'w1',
    })
  })

  test('a queue may delete what is done', async () => {
    await add(2)
    const [job] = await stage.shop.claims.claim(byTitle)
    await job?.complete()
    expect(await stage.table.all()).toHaveLength(1)
  })

  test('a released job can be claimed at once, or after its delay', async () => {
    await add(2)
    const first = await one()
    await first.release()
    const again = await one()
    expect(again).toMatchObject({ id: first.id, attempts: 2 })
    await again.release({ delayMs: 60_000 })
    expect(ids(await stage.shop.claims.claim(jobs, { limit: 2 }))).toEqual([1])
    await expire()
    expect(await rowOf(2)).toMatchObject({ claim_token: null, claimed_by: null })
    expect(ids(await stage.shop.claims.claim(jobs, { limit: 2 }))).toContain(2)
  })

  test('a job whose time is over goes to another, and its first worker can do nothing about it', async () => {
    await add(1)
    const stale = await one()
    await expire()
    const fresh = await one()
    expect(fresh).toMatchObject({ id: stale.id, attempts: 2 })
    for (const late of [() => stale.complete(), () => stale.release(), () => stale.extend(1000)])
      expect(await caught(late())).toBeInstanceOf(LockLostError)
    await fresh.complete()
    expect(await caught(fresh.complete()), 'a job ends once').toBeInstanceOf(LockLostError)
  })

  test('an extended claim keeps others away for longer', async () => {
    await add(1)
    const [job] = await stage.shop.claims.claim(jobs, { visibilityMs: 20_000 })
    const before = (await rowOf(1))?.claimed_until ?? 0
    await job?.extend(120_000)
    const after = (await rowOf(1))?.claimed_until ?? 0
    expect(after - before).toBeGreaterThan(50_000)
    await job?.extend()
    expect((await rowOf(1))?.claimed_until).toBeLessThan(after)
  })

  test('reclaim frees what nobody finished, and leaves what is under way or delayed', async () => {
    await add(5)
    const taken = await stage.shop.claims.claim(jobs, { limit: 3 })
    await taken[0]?.release({ delayMs: 60_000 })
    await stage.table.set('claimed_until', 1, Number(taken[1]?.id))
    expect(await stage.shop.claims.reclaim(jobs)).toEqual({ freed: 1, dead: 0 })
    expect(await rowOf(Number(taken[1]?.id))).toMatchObject({ claim_token: null, claimed_until: null })
    expect(await rowOf(Number(taken[2]?.id))).toMatchObject({ claim_token: taken[2]?.token })
    expect(ids(await stage.shop.claims.claim(jobs, { limit: 9 }))).toHaveLength(3)
  })

  test('a job that was claimed too often is claimed no more, and reclaim puts it aside', async () => {
    await add(2)
    for (const attempt of [1, 2, 3]) {
      const job = await one()
      expect(job).toMatchObject({ id: 2, attempts: attempt })
      await (attempt === 3 ? expire() : job.release())
    }
    expect(await one()).toMatchObject({ id: 1 })
    expect(await stage.shop.claims.reclaim(jobs)).toEqual({ freed: 0, dead: 1 })
    expect(await rowOf(2)).toMatchObject({ state: 'dead', attempts: 3, claim_token: null, claimed_by: null })
  })

  test('reclaim leaves a job alone that is under way for the last time', async () => {
    await add(1)
    for (const attempt of [1, 2, 3]) {
      const job = await one()
      expect(job.attempts).toBe(attempt)
      if (attempt < 3) await job.release()
    }
    const before = await rowOf(1)
    expect(await stage.shop.claims.reclaim(jobs)).toEqual({ freed: 0, dead: 0 })
    expect(await rowOf(1)).toEqual(before)
    await stage.shop.claims.complete(jobs, { id: 1, token: before?.claim_token ?? '' })
    expect(await rowOf(1)).toMatchObject({ state: 'done' })
  })

  test('jobs are counted by what can become of them, as the server’s clock has it', async () => {
    const { claims } = stage.shop
    expect(await claims.stats(jobs)).toEqual({ ready: 0, delayed: 0, claimed: 0, dead: 0 })
    await add(3)
    const others = [{ state: 'done' }, { state: 'dead' }, { attempts: 3 }] as const
    await stage.table.add(others.map((other, index) => ({ id: 4 + index, ...other })))
    await one()
    await (await one()).release({ delayMs: 600_000 })
    expect(await claims.stats(jobs)).toEqual({ ready: 1, delayed: 1, claimed: 1, dead: 2 })
    expect(await claims.stats(patientJobs(1000))).toEqual({ ready: 2, delayed: 1, claimed: 1 })
    await expire()
    expect(await claims.stats(jobs)).toEqual({ ready: 3, delayed: 0, claimed: 0, dead: 2 })
    expect(await claims.reclaim(jobs)).toEqual({ freed: 1, dead: 1 })
    expect(await claims.stats(jobs)).toEqual({ ready: 3, delayed: 0, claimed: 0, dead: 2 })
  })

  test('two queues of one table do not count the dead jobs of each other', async () => {
    const of = (title: string): Queue =>
      queue({
        ...jobsAgain,
        where: { title, state: 'ready' },
        done: 'delete',
        dead: { afterAttempts: 3, set: { state: 'dead' } },
      })
    await stage.table.add([1, 2, 3].map((id) => ({ id, title: id === 1 ? 'a' : 'b', attempts: 3 })))
    expect(await stage.shop.claims.reclaim(of('b'))).toEqual({ freed: 0, dead: 2 })
    expect(await stage.shop.claims.stats(of('b'))).toMatchObject({ dead: 2 })
    expect(await stage.shop.claims.stats(of('a'))).toMatchObject({ dead: 1 })
  })

  test('the claims of a job are counted that comes without a number of them', async () => {
    await add(1)
    await stage.table.set('attempts', null)
    for (const attempt of [1, 2, 3]) {
      const job = await one()
      expect(job.attempts).toBe(attempt)
      await job.release()
    }
    expect(await stage.shop.claims.claim(jobs)).toEqual([])
    expect(await stage.shop.claims.reclaim(jobs)).toEqual({ freed: 0, dead: 1 })
  })

  test('reclaim frees more jobs than one statement changes', async () => {
    await stage.table.add(
      Array.from({ length: 2100 }, (_, id) => ({ id, claim_token: 'lost', claimed_until: 1 })),
    )
    expect(await stage.shop.claims.reclaim(jobs)).toEqual({ freed: 2100, dead: 0 })
  })

  test('a job that ends in a transaction ends with it, or not at all', async () => {
    await add(1)
    const job = await one()
    await caught(
      stage.shop.transaction(async (tx) => {
        await job.complete({ tx })
        throw new Error('never mind')
      }),
    )
    expect(await rowOf(1)).toMatchObject({ state: 'ready', claim_token: job.token })
    await stage.shop.transaction((tx) => job.complete({ tx }))
    expect(await rowOf(1)).toMatchObject({ state: 'done' })
  })

  test('a transaction in the place of options, or under another name, ends no job', async () => {
    await add(1)
    const { claims, transaction } = stage.shop
    const job = await one()
    const before = await rowOf(1)
    const refused = await transaction(async (tx) => {
      const wrong = [tx, { trx: tx }, 5000, { delay: 5 }] as object[]
      const calls = wrong.flatMap((options) => [
        () => job.complete(options),
        () => job.release(options),
        () => claims.complete(jobs, job, options),
        () => claims.complete(jobs, [job], options),
        () => claims.release(jobs, job, options),
        () => claims.announce(jobs, options),
        () => (claims.stats as (...given: object[]) => Promise<unknown>)(jobs, options),
      ])
      return Promise.all(calls.map((call) => caught(call())))
    })
    for (const error of refused) expect(error).toBeInstanceOf(LockUsageError)
    expect(String(refused[0])).toContain('pass { tx }')
    expect(await rowOf(1)).toEqual(before)
  })

  test('a job can be ended by its id and token alone', async () => {
    await add(1)
    const { id, token } = await one()
    await stage.shop.claims.extend(jobs, { id, token }, 5000)
    expect(await caught(stage.shop.claims.complete(jobs, { id, token: 'a guess' }))).toBeInstanceOf(
      LockLostError,
    )
    await stage.shop.claims.complete(jobs, { id, token })
    expect(await rowOf(1)).toMatchObject({ state: 'done' })
  })

  test('a claim that is aborted rejects with the reason', async () => {
    const reason = new Error('no longer needed')
    expect(await caught(stage.shop.claims.claim(jobs, { signal: AbortSignal.abort(reason) }))).toBe(reason)
  })

  test('a limit that is no number of jobs is refused', async () => {
    for (const limit of [0, -1, 1.5, 10_001, 1e9, Number.NaN]) {
      expect(await caught(stage.shop.claims.claim(jobs, { limit }))).toMatchObject({
        name: 'LockUsageError',
        field: 'limit',
      })
    }
  })

  test('a table that lacks a column is named, with the columns that it needs', async () => {
    if (stage.isDocuments) return // a field that is missing is an empty one
    const wrong = queue({
      table: 'job',
      id: 'id',
      orderBy: 'importance',
      where: { state: 'ready' },
      claim: { token: 'claim_token', until: 'claimed_until' },
      done: 'delete',
    })
    const missing = queue({ ...wrongTable, table: 'no_such_table' })
    const error = await caught(stage.shop.claims.claim(wrong))
    expect(error).toBeInstanceOf(LockUsageError)
    expect(String(error)).toMatch(
      /job must have the columns id, importance, state, claim_token, claimed_until/,
    )
    expect((error as Error).cause, "the driver's own error").toBeInstanceOf(Error)
    expect(String(await caught(stage.shop.claims.claim(missing)))).toMatch(/no_such_table must have/)
    if (stage.name === 'postgres') {
      const noted = { state: 'done', note: '{}' }
      await stage.table.run({ sql: 'ALTER TABLE job ADD COLUMN note JSON', params: [] })
      const odd = queue({
        ...jobsAgain,
        done: { set: { state: 'done' } },
        dead: { afterAttempts: 3, set: noted },
      })
      const refused = await caught(stage.shop.claims.stats(odd))
      await stage.table.run({ sql: 'ALTER TABLE job DROP COLUMN note', params: [] })
      expect(refused).toBeInstanceOf(LockUsageError)
      expect(String(refused)).toContain('of types that fit; the server says: operator does not exist: json')
    }
    expect(await stage.shop.claims.claim(jobs), 'the connection is as good as before').toEqual([])
  })
}

const jobsAgain = {
  table: 'job',
  id: 'id',
  orderBy: 'id',
  where: { state: 'ready' },
  claim: { token: 'claim_token', until: 'claimed_until', attempts: 'attempts' },
} as const

const wrongTable = {
  id: 'id',
  orderBy: 'id',
  claim: { token: 'claim_token', until: 'claimed_until' },
  done: 'delete',
} as const

async function drain({ shop }: QueueStage): Promise<readonly number[]> {
  const all: number[] = []
  for (;;) {
    const taken = await shop.claims.claim(jobs, { limit: 50 })
    if (taken.length === 0) return all
    all.push(...ids(taken))
  }
}
