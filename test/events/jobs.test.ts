import { expect, test } from 'vitest'

import { jobs } from '../claims/job-table.ts'
import { describeQueues } from '../claims/stage.ts'
import { listen, toldOn } from './listen.ts'

describeQueues((stage) => {
  test('a worker tells how many jobs it has claimed, and how each of them ended', async () => {
    await stage.table.add([{ id: 1, priority: 1 }, { id: 2 }])
    const told = listen()
    const stop = new AbortController()
    const boom = new Error('no mail server')
    await stage.shop.claims.work(
      jobs,
      ({ id }) => {
        if (Number(id) === 1) return
        stop.abort()
        throw boom
      },
      { signal: stop.signal, onError: () => {}, idleMs: 50 },
    )
    const claimed = toldOn(told, 'job:claimed').map((event) => Number(event.jobs))
    expect(claimed.reduce((sum, count) => sum + count, 0)).toBe(2)
    const [first, second] = toldOn(told, 'job:asyncEnd')
    expect(first).toMatchObject({ queue: 'job', attempts: 1, outcome: 'done' })
    expect(second).toMatchObject({ queue: 'job', attempts: 1, outcome: 'failed', error: boom })
    expect([first?.id, second?.id].map(Number)).toEqual([1, 2])
    // the call of the worker does not reject, and whoever listens for errors hears of this one all the same
    expect(toldOn(told, 'job:error')).toMatchObject([{ error: boom, errorKind: 'other' }])
    expect(toldOn(told, 'job:start')).toHaveLength(2)
  })
})
