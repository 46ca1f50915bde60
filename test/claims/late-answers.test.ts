import { afterEach, expect, test } from 'vitest'

import { until } from '../engines/use.ts'
import { patientJobs } from './job-table.ts'
import { describeQueues } from './stage.ts'
import { openWorkshop, type Workshop, type WorkshopOptions } from './workshop.ts'

describeQueues((stage) => {
  const shops: Workshop[] = []
  afterEach(async () => {
    for (const shop of shops.splice(0)) await shop.close()
  })
  /** A workshop that is told of every answer to a statement about claims before its worker hears of it. */
  const shopWith = async (onAnswer: NonNullable<WorkshopOptions['onAnswer']>): Promise<Workshop> => {
    const about = (statement: string): Promise<void> | void =>
      statement.includes('claim_token') ? onAnswer(statement) : undefined
    const shop = await openWorkshop(stage.name, stage.engine.server.url, { onAnswer: about })
    shops.push(shop)
    return shop
  }

  test('jobs that are claimed just as the worker is stopped are given back, with the attempt', async () => {
    await stage.table.add([{ id: 1, attempts: 2 }, { id: 2 }])
    const stop = new AbortController()
    const shop = await shopWith(() => stop.abort())
    const seen: unknown[] = []
    const report = await shop.claims.work(patientJobs(3_600_000), (job) => seen.push(job.id), {
      concurrency: 2,
      signal: stop.signal,
    })
    expect(report).toEqual({ done: 0, failed: 0, lost: 0, released: 0 })
    expect(seen).toEqual([])
    const free = { state: 'ready', claim_token: null, claimed_until: null, claimed_by: null }
    const rows = [
      { ...free, attempts: 2 },
      { ...free, attempts: 0 },
    ]
    expect(await stage.table.all()).toMatchObject(rows)
  })

  test('a job whose claim was answered after its time is lost from the beginning', async () => {
    await stage.table.add([{ id: 1 }])
    const visibilityMs = 1000
    const stop = new AbortController()
    const shop = await shopWith(async () => {
      if (stop.signal.aborted) return
      const answeredAt = performance.now()
      await until(() => performance.now() > answeredAt + visibilityMs, 'the end of the claim')
    })
    const report = await shop.claims.work(
      patientJobs(visibilityMs),
      async (job) => {
        stop.abort() // so that it claims nothing more
        await until(() => job.signal.aborted, 'the loss')
      },
      { signal: stop.signal, onError: () => {} },
    )
    expect(report).toEqual({ done: 0, failed: 0, lost: 1, released: 0 })
  })
})
