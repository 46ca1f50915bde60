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
    await stage.shop.claims.work(
      jobs,
      async ({ id }) => {
        await tracer.startActiveSpan(`handle ${Number(id)}`, async (own) => own.end())
        if (Number(id) === 1) return
        stop.abort()
        throw new Error('no mail server')
      },
      { signal: stop.signal, onError: () => {}, idleMs: 50 },
    )
    const [first, second] = spansOf('job job')
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
