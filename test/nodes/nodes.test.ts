import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { LockNotAvailableError, LockUsageError } from '../../src/core/errors.ts'
import type { SingletonOptions } from '../../src/locks/nodes/singleton.ts'
import { describeEngines, until, type EngineContext } from '../engines/use.ts'
import { caught, gate } from '../entries/stage.ts'
import { subjects, type Entry, type Subject } from '../entries/subject.ts'

/** Cannot be made a text of. */
const wordless: unknown = Object.assign(Object.create(null), { status: 500 })

describe.each(subjects.map((subject) => ({ ...subject })))('nodes through $title', (subject) => {
  describeEngines((context) => specs(context, subject), { only: subject.engines })
})

function specs(context: EngineContext, subject: Subject<unknown>): void {
  const nodes: Entry<unknown>[] = []
  beforeAll(async () => {
    for (const _ of [1, 2, 3]) nodes.push(await subject.connect(context.engine.server.url))
  })
  afterAll(() => Promise.all(nodes.map((node) => node.close())))

  test('a job that every node starts runs on one at a time, and not sooner than its period', async () => {
    const everyMs = 300
    const runs: { readonly start: number; readonly end: number; readonly fence: number }[] = []
    const stop = new AbortController()
    const running = nodes.map(({ locks }) =>
      locks.singleton(
        ['report', context.name],
        async ({ lease, signal }) => {
          const start = performance.now()
          expect(signal.aborted).toBe(false)
          await nodes[0]?.locks.transaction(async () => {}) // a run takes its time
          runs.push({ start, end: performance.now(), fence: lease.fence })
        },
        { everyMs, signal: stop.signal },
      ),
    )
    await until(async () => runs.length >= 4, 'four runs')
    stop.abort()
    await Promise.all(running)
    for (const [index, next] of runs.entries()) {
      const last = runs[index - 1]
      if (last === undefined) continue
      expect(next.start).toBeGreaterThan(last.end)
      // a fence is the server's time of the grant, in whole milliseconds
      expect(next.fence - last.fence).toBeGreaterThanOrEqual(everyMs - 1)
    }
  })

  test('a job with a time of day runs on one node, although all of them ask', async () => {
    const stop = new AbortController()
    const runs: (Date | undefined)[] = []
    const due = new Date(Date.now() + 4000) // far enough for a slow machine to have asked by then
    due.setUTCMilliseconds(0)
    const options = { at: due.toISOString().slice(11, 19), signal: stop.signal }
    const running = nodes.flatMap(({ locks }, index) => [
      locks.singleton(['daily', context.name], async (run) => void runs.push(run.due), options),
      // under a name of its own nobody is kept out
      locks.singleton(['daily', context.name, index], async (run) => void runs.push(run.due), options),
    ])
    await until(() => runs.length >= 4, 'the run of all, and one of each')
    stop.abort()
    await Promise.all(running)
    expect(runs).toEqual([due, due, due, due])
  })

  test('a period may be longer than a timer can be', async () => {
    const stop = new AbortController()
    const everyMs = 40 * 86_400_000
    const node = nodes[0] as Entry<unknown>
    let runs = 0
    const running = nodes.map(({ locks }) =>
      locks.singleton(['monthly', context.name], async () => void (runs += 1), {
        everyMs,
        signal: stop.signal,
      }),
    )
    // given back, and kept from the others
    const kept = async () =>
      (await node.locks.inspect()).leases.find(({ key }) => key === `monthly.${context.name}`)
    await until(async () => Number((await kept())?.remainingMs) > 30 * 86_400_000, 'it is kept for a month')
    expect(await kept()).toMatchObject({ owner: undefined })
    expect(await caught(node.locks.lease(['monthly', context.name], { wait: 'nowait' }))).toBeInstanceOf(
      LockNotAvailableError,
    )
    stop.abort()
    await Promise.all(running)
    expect(runs).toBe(1)
  })

  test('a run that fails is told, and the next one comes in its time, also when the listener fails', async () => {
    const [node] = nodes
    const stop = new AbortController()
    const errors: unknown[] = []
    let runs = 0
    await node?.locks.singleton(
      ['fails', context.name],
      async () => {
        runs += 1
        if (runs === 3) stop.abort()
        throw runs === 2 ? wordless : new Error(`run ${runs}`)
      },
      {
        everyMs: 100,
        signal: stop.signal,
        onError: (error) => {
          errors.push(error)
          if (runs === 1) throw new Error('no log')
          return Promise.reject(new Error('no log either'))
        },
      },
    )
    expect(errors).toEqual([new Error('run 1'), wordless, new Error('run 3')])
  })

  test('of all nodes one leads, and another when that one stops', async () => {
    const key = ['leader', context.name]
    const stops = nodes.map(() => new AbortController())
    const leading = new Set<number>()
    const history: number[] = []
    const running = nodes.map(({ locks }, index) =>
      locks.leader(key, {
        signal: stops[index]?.signal ?? AbortSignal.abort(),
        onElected: () => {
          leading.add(index)
          history.push(index)
          expect(leading.size).toBe(1)
        },
        onLost: () => leading.delete(index),
      }),
    )
    for (const count of [1, 2, 3]) {
      await until(() => history.length === count && leading.size === 1, `leader number ${count}`)
      stops[history.at(-1) ?? 0]?.abort()
    }
    await Promise.all(running)
    expect(history.toSorted((a, b) => a - b)).toEqual([0, 1, 2])
  })

  test('a leader whose work fails steps down, and somebody is elected again', async () => {
    const [node] = nodes
    const stop = new AbortController()
    const lost: unknown[] = []
    let terms = 0
    const warnings: string[] = []
    const hear = ({ message }: Error): void => void warnings.push(message)
    process.on('warning', hear)
    await node?.locks.leader(['poor leader', context.name, 7n], {
      signal: stop.signal,
      onElected: async () => {
        terms += 1
        if (terms === 1) throw new Error('cannot')
        stop.abort(new Error('enough'))
      },
      onLost: (why) => {
        lost.push(why)
        throw wordless
      },
    })
    expect(lost.map(String)).toEqual(['Error: cannot', 'Error: enough'])
    const name = `["poor leader","${context.name}","7n"]`
    const warned = [
      `onElected of the leader ${name} failed, so it steps down: Error: cannot`,
      `onLost of the leader ${name} failed: [Object: null prototype] { status: 500 }`,
    ]
    await until(() => warned.every((text) => warnings.includes(text)), 'both warnings')
    process.off('warning', hear)
  })

  test('migrations of many nodes run one after the other', async () => {
    let atWork = 0
    const most: number[] = []
    const first = gate()
    await Promise.all(
      [...nodes, ...nodes].map(({ locks }) =>
        locks.migrationLock(async () => {
          most.push((atWork += 1))
          if (most.length === 1) setImmediate(first.open)
          await first.opened
          atWork -= 1
        }),
      ),
    )
    expect(most).toEqual([1, 1, 1, 1, 1, 1])
  })

  test('a wrong option is refused at once', async () => {
    const [node] = nodes
    const bad = [
      { everyMs: 0 },
      { everyMs: Number.NaN },
      {},
      { everyMs: 100, ttl: 5 },
      { everyMs: 1, ttlMs: -1 },
      { at: '25:00' },
      { at: '02:00', everyMs: 1000 },
      { everyMs: 1000, timeZone: 'UTC' },
    ]
    for (const options of bad) {
      const error = await caught(
        node?.locks.singleton('x', async () => {}, options as SingletonOptions) ?? Promise.resolve(),
      )
      expect(error).toBeInstanceOf(LockUsageError)
    }
  })
}
