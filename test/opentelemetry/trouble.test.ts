import { channel } from 'node:diagnostics_channel'
import { isDeepStrictEqual } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import * as api from '@opentelemetry/api'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, type SpanProcessor } from '@opentelemetry/sdk-trace-base'
import { expect, onTestFinished, test } from 'vitest'

import { LockUsageError } from '../../src/core/errors.ts'
import { instrument, type InstrumentOptions, type OtelApi } from '../../src/entries/opentelemetry.ts'
import { until } from '../engines/until.ts'
import { gate } from '../entries/stage.ts'
import { caught, describePatterns } from '../patterns/stage.ts'
import { followContexts, lineOf, record } from './recorder.ts'

function boom(): never {
  throw new Error('the SDK is broken')
}

const brokenProcessor: SpanProcessor = { onStart: boom, onEnd: boom, forceFlush: boom, shutdown: boom }

/** A span whose every method throws. */
const brokenSpan = { setAttributes: boom, addEvent: boom, setStatus: boom, end: boom }

const metric = { add: boom, record: boom }
const brokenMeter = {
  createCounter: () => metric,
  createUpDownCounter: () => metric,
  createHistogram: () => metric,
}

const broken: Readonly<Record<string, InstrumentOptions>> = {
  'providers that throw': { tracerProvider: { getTracer: boom }, meterProvider: { getMeter: boom } },
  'a tracer and instruments that throw': {
    tracerProvider: { getTracer: () => ({ startSpan: boom }) },
    meterProvider: { getMeter: () => brokenMeter },
  },
  'spans that throw': { tracerProvider: { getTracer: () => ({ startSpan: () => brokenSpan }) } },
  'a processor that throws': {
    tracerProvider: new BasicTracerProvider({ spanProcessors: [brokenProcessor] }),
  },
}

describePatterns(
  (stage) => {
    const key = ['trouble', stage.name] as const

    const useAll = async (): Promise<string> => {
      const { shared } = stage.node().meeting
      await using lease = await shared.lease(key)
      await using held = await shared.acquire([...key, 'held'])
      const failed = await caught(
        shared.transaction(async (tx) => {
          await stage.node().rows(tx, { table: 'account', key: { id: 1 } })
          throw new Error('mine')
        }),
      )
      const done = await shared.withLock(key, async () => 'done')
      return [isDeepStrictEqual(lease.key, key), held.receipt.asked, (failed as Error).message, done].join()
    }

    test.each(Object.keys(broken))('%s change nothing for the caller', async (what) => {
      followContexts()
      const instrumented = instrument(api, broken[what])
      onTestFinished(() => instrumented.stop())
      expect(await useAll()).toBe('true,exclusive,mine,done')
      instrumented.stop()
    })

    const managers: Readonly<Record<string, Partial<OtelApi['context']>>> = {
      'a manager of contexts that throws': { active: boom, with: boom },
      'one that never calls what it is given': { with: () => undefined as never },
      'one that calls it twice': {
        with: (_, run) => {
          run()
          return run()
        },
      },
      'one that throws behind the call': {
        with: (_, run) => {
          run()
          return boom()
        },
      },
    }

    test.each(Object.keys(managers))('with %s, the work runs once', async (what) => {
      const context = { active: () => api.ROOT_CONTEXT, ...managers[what] } as OtelApi['context']
      const { trace, metrics, diag } = api
      using _ = instrument(
        { context, trace, metrics, diag },
        {
          tracerProvider: new BasicTracerProvider(),
        },
      )
      let runs = 0
      await stage.node().meeting.shared.withLock(key, async () => void (runs += 1))
      expect(runs).toBe(1)
    })

    test('what is under way when it is stopped is ended, and counts as nothing held', async () => {
      const { instrumented, spans, spansOf, total } = record()
      const { shared } = stage.node().meeting
      const lease = await shared.lease(key)
      const [granted, free] = [gate(), gate()]
      const working = shared.withLock(key, async () => {
        granted.open()
        await free.opened
        return 'done'
      })
      await granted.opened
      expect(await total('holdfast.lock.held')).toBe(1)
      instrumented.stop()
      instrumented.stop()
      expect(await total('holdfast.lock.held')).toBe(0)
      expect(await total('holdfast.lease.held')).toBe(0)
      expect(spansOf('transaction')).toHaveLength(1)
      expect(spansOf('transaction')[0]?.attributes).toMatchObject({ 'holdfast.unfinished': true })
      expect(spansOf('hold lease')[0]?.attributes).toMatchObject({ 'holdfast.unfinished': true })
      const before = spans().length
      free.open()
      expect(await working).toBe('done')
      await lease.release()
      expect(spans()).toHaveLength(before)
      expect(await total('holdfast.lock.held')).toBe(0)
      expect(await total('holdfast.lock.hold.duration')).toBe(0)
    })

    test('who waits when it is stopped is told as unfinished', async () => {
      const { instrumented, spansOf } = record()
      const { shared } = stage.node().meeting
      const held = await shared.acquire(key)
      const waiting = stage.node(1).meeting.shared.acquire(key)
      instrumented.stop()
      const [, waited] = spansOf('lock')
      expect(waited?.attributes).toMatchObject({ 'holdfast.unfinished': true })
      expect(waited?.attributes).not.toHaveProperty('holdfast.outcome')
      await held.release()
      await (await waiting).release()
    })

    test('an SDK that is shut down in the middle changes nothing', async () => {
      followContexts()
      const tracerProvider = new BasicTracerProvider()
      const meterProvider = new MeterProvider()
      using _ = instrument(api, { tracerProvider, meterProvider })
      const done = await stage
        .node()
        .meeting.shared.withLock(key, async () => {
          await tracerProvider.shutdown()
          await meterProvider.shutdown()
          return useAll()
        })
        .catch((error: unknown) => error)
      // the work inside of a transaction may not open another one, and is told so as without it
      expect(done).toBeInstanceOf(LockUsageError)
      expect(await useAll()).toBe('true,exclusive,mine,done')
    })

    test('events that a subscriber has frozen are told as far as they go', async () => {
      const freeze = (event: unknown): void => void Object.freeze(event)
      const starts = ['transaction', 'lock', 'lease'].map((name) => channel(`tracing:holdfast:${name}:start`))
      for (const one of starts) one.subscribe(freeze)
      onTestFinished(() => {
        for (const one of starts) one.unsubscribe(freeze)
      })
      const { spans, spansOf, total } = record()
      expect(await useAll()).toBe('true,exclusive,mine,done')
      expect(lineOf(spansOf('hold lease')[0], spans())).toEqual(['hold lease'])
      const failed = spansOf('transaction').filter(({ status }) => status.code === api.SpanStatusCode.ERROR)
      expect(failed).toHaveLength(1)
      expect(await total('holdfast.lock.held')).toBe(0)
      expect(await total('holdfast.lease.held')).toBe(0)
    })

    test('an SDK that is set up later is found', async () => {
      const instrumented = instrument(api)
      onTestFinished(() => instrumented.stop())
      const lease = await stage.node().meeting.shared.lease(key)
      instrumented.stop()
      const recorder = record({})
      await lease.release()
      // what it has not seen the start of, it does not count down
      expect(await recorder.total('holdfast.lease.held')).toBe(0)
    })
  },
  { nodes: 2, only: ['postgres', 'sqlite'] },
)

test('the global providers are used, also when they are set behind the call', async () => {
  using _ = instrument(api)
  const ended: string[] = []
  const onEnd: SpanProcessor['onEnd'] = ({ name }) => void ended.push(name)
  const rest = { onStart: () => {}, forceFlush: async () => {}, shutdown: async () => {} }
  const event = { adapter: 'pg', dialect: 'postgres', keys: [], attempts: 1, access: 'read-write' }
  const tell = (step: string, said: object): void =>
    channel(`tracing:holdfast:transaction:${step}`).publish(said)
  tell('start', event)
  tell('asyncEnd', event)
  api.trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [{ onEnd, ...rest }] }))
  onTestFinished(() => api.trace.disable())
  const later = { ...event }
  tell('start', later)
  tell('asyncEnd', later)
  expect(ended).toEqual(['transaction'])
})

test('a second one is refused until the first is stopped, and then allowed', () => {
  const first = instrument(api)
  expect(() => instrument(api)).toThrow(LockUsageError)
  expect(() => instrument(api)).toThrow('already running in this process: stop that one first')
  first.stop()
  const second = instrument(api)
  first.stop()
  expect(() => instrument(api)).toThrow(LockUsageError)
  second.stop()
})

test('what is not the module is refused, and named', () => {
  for (const wrong of [undefined, null, {}, 'api', { trace: api.trace }])
    expect(() => instrument(wrong as never)).toThrow(
      "pass the module, as in import * as api from '@opentelemetry/api'",
    )
  expect(() => instrument(api, { tracer: 1 } as never)).toThrow('tracer: is not a field')
  expect(() => instrument(api, { tracerProvider: {} as never })).toThrow('pass an object with getTracer()')
  expect(() => instrument(api, { keys: 'no' as never })).toThrow('keys: ')
  instrument(api).stop()
})

test('events that never end are not kept', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const { instrumented, spans } = record()
  const refs = ['transaction', 'lock', 'lease', 'job'].map((kind) => {
    const event = { adapter: 'pg', dialect: 'postgres', keys: [], wait: 'block', queue: 'job', ttlMs: 1 }
    channel(`tracing:holdfast:${kind}:start`).publish(event)
    return new WeakRef(event)
  })
  await until(() => {
    collect()
    return refs.every((ref) => ref.deref() === undefined)
  }, 'events that are gone')
  instrumented.stop()
  expect(spans()).toEqual([])
})
