import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { expect, test } from 'vitest'

import { jobs } from '../claims/job-table.ts'
import { describeQueues } from '../claims/stage.ts'
import { lineOf, record } from './recorder.ts'

describeQueues((stage) => {
  test('jobs are spans that the handler runs in, and claims are counted', async () => {
    await stage.table.add([{ id: 1, priority: 1 }, { id: 2 }])
    const { tracer, spans, spansOf, points, total } = record()
    const stop = new AbortController()
    let handled = 0
    await stage.shop.claims.work(
      jobs,
      async ({ id }) => {
        await tracer.startActiveSpan(`handle ${Number(id)}`, async (own) => own.end())
        handled += 1
        if (handled === 2) stop.abort()
        if (Number(id) === 1) return
        throw new Error('no mail server')
      },
      { signal: stop.signal, onError: () => {}, idleMs: 50 },
    )
    // by their job: a claim passes over a row that is locked for a moment, and on MariaDB the second was seen to come first
    const spanOf = (id: string) =>
      spansOf('job job').find(({ attributes }) => attributes['holdfast.job.id'] === id)
    const [first, second] = [spanOf('1'), spanOf('2')]
    expect(first?.kind).toBe(SpanKind.CONSUMER)
    expect(first?.attributes).toMatchObject({
      'db.collection.name': 'job',
      'holdfast.job.id': '1',
      'holdfast.job.attempts': 1,
      'holdfast.job.outcome': 'done',
    })
    expect(first?.status.code).toBe(SpanStatusCode.UNSET)
    expect(second?.attributes).toMatchObject({ 'holdfast.job.outcome': 'failed', 'error.type': '_OTHER' })
    expect(second?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'no mail server' })
    for (const id of [1, 2])
      expect(lineOf(spansOf(`handle ${id}`)[0], spans())).toEqual([`handle ${id}`, 'job job'])
    expect(await points('holdfast.queue.claimed')).toMatchObject([
      { value: 2, attributes: { 'db.collection.name': 'job' } },
    ])
    expect(await total('holdfast.queue.claims')).toBeGreaterThanOrEqual(1)
    expect(await total('holdfast.job.duration')).toBe(2)
  })
})
