import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { expect, test } from 'vitest'

import { LockNotAvailableError, LockTimeoutError } from '../../src/core/errors.ts'
import { until } from '../engines/until.ts'
import { gate } from '../entries/stage.ts'
import { briefly } from '../leases/briefly.ts'
import { caught, describePatterns } from '../patterns/stage.ts'
import { lineOf, record } from './recorder.ts'

const account = { table: 'account', key: { id: 1 } }

const systems: Readonly<Record<string, string>> = { postgres: 'postgresql', mssql: 'microsoft.sql_server' }

describePatterns(
  (stage) => {
    const { name: dialect } = stage
    const system = systems[dialect] ?? dialect
    const key = ['otel', dialect, 1] as const

    test('a lock belongs to its transaction, that to the caller, and the work is inside', async () => {
      const { tracer, spans, spansOf } = record()
      await tracer.startActiveSpan('request', async (request) => {
        await stage.node().meeting.shared.withLock(key, async () => {
          await tracer.startActiveSpan('own', async (own) => own.end())
        })
        request.end()
      })
      expect(lineOf(spansOf('lock')[0], spans())).toEqual(['lock', 'transaction', 'request'])
      expect(lineOf(spansOf('own')[0], spans())).toEqual(['own', 'transaction', 'request'])
      expect(spans()).toHaveLength(4)
      const [transaction] = spansOf('transaction')
      expect(transaction?.kind).toBe(SpanKind.INTERNAL)
      expect(transaction?.status.code).toBe(SpanStatusCode.UNSET)
      expect(transaction?.instrumentationScope.name).toBe('holdfast')
      expect(transaction?.attributes).toMatchObject({
        'db.system.name': system,
        'db.operation.name': 'transaction',
        'holdfast.keys': [JSON.stringify(key)],
        'holdfast.transaction.access': 'read-write',
        'holdfast.transaction.attempts': 1,
        'holdfast.transaction.outcome': 'committed',
      })
      expect(transaction?.attributes['holdfast.lock.hold.duration']).toBeGreaterThan(0)
      expect(spansOf('lock')[0]?.attributes).toMatchObject({
        'db.system.name': system,
        'db.operation.name': 'lock',
        'holdfast.key': JSON.stringify(key),
        'holdfast.lock.kind': 'named',
        'holdfast.lock.mode': 'exclusive',
        'holdfast.wait': 'block',
        'holdfast.outcome': 'granted',
      })
    })

    test('without a caller, all of it is one trace', async () => {
      const { spans, spansOf } = record()
      await stage.node().meeting.shared.withLock(key, async () => {})
      expect(lineOf(spansOf('lock')[0], spans())).toEqual(['lock', 'transaction'])
      expect(spansOf('transaction')[0]?.parentSpanContext).toBeUndefined()
    })

    test('rows that the work locks belong to the span of the work that has asked', async () => {
      const node = stage.node()
      const { tracer, spans, spansOf } = record()
      await node.meeting.shared.transaction(async (tx) => {
        await node.rows(tx, account)
        await tracer.startActiveSpan('load', async (load) => {
          await node.rows(tx, { table: 'account', key: { id: 2 } })
          load.end()
        })
      })
      const [first, second] = spansOf('lock account').filter(
        ({ attributes }) => attributes['holdfast.outcome'] === 'granted',
      )
      expect(lineOf(first, spans())).toEqual(['lock account', 'transaction'])
      expect(lineOf(second, spans())).toEqual(['lock account', 'load', 'transaction'])
      expect(first?.attributes).toMatchObject({
        'db.collection.name': 'account',
        'holdfast.lock.kind': 'rows',
      })
    })

    test('transactions side by side keep their own', async () => {
      const { tracer, spans, spansOf } = record()
      const one = (name: string): Promise<void> =>
        tracer.startActiveSpan(`request ${name}`, async (request) => {
          await stage.node().meeting.shared.withLock([...key, name], async () => {
            await tracer.startActiveSpan(`own ${name}`, async (own) => own.end())
          })
          request.end()
        })
      await Promise.all(['a', 'b', 'c'].map(one))
      for (const name of ['a', 'b', 'c'])
        expect(lineOf(spansOf(`own ${name}`)[0], spans())).toEqual([
          `own ${name}`,
          'transaction',
          `request ${name}`,
        ])
    })

    test('one that throws has failed, and says with what', async () => {
      const { spansOf, points } = record()
      await caught(stage.node().meeting.shared.transaction(() => Promise.reject(new Error('no stock left'))))
      const [transaction] = spansOf('transaction')
      expect(transaction?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'no stock left' })
      expect(transaction?.attributes).toMatchObject({
        'error.type': '_OTHER',
        'holdfast.transaction.outcome': 'rolled_back',
      })
      expect(await points('holdfast.transaction.duration')).toMatchObject([
        { value: 1, attributes: { 'error.type': '_OTHER', 'holdfast.transaction.outcome': 'rolled_back' } },
      ])
    })

    /** Holds the lock, in a chain of calls of its own, until the block has ended. */
    const holding = async (): Promise<AsyncDisposable> => {
      const [granted, free] = [gate(), gate()]
      const held = stage.node().meeting.shared.withLock(key, () => {
        granted.open()
        return free.opened
      })
      await granted.opened
      return {
        [Symbol.asyncDispose]: () => {
          free.open()
          return held
        },
      }
    }

    test('who does not want to wait is refused, which is no failure of the lock', async () => {
      await using _ = await holding()
      const { spans, spansOf, total } = record()
      const { shared } = stage.node(1).meeting
      const error = await caught(shared.withLock(key, async () => {}, { wait: 'nowait' }))
      expect(error).toBeInstanceOf(LockNotAvailableError)
      const [lock] = spansOf('lock')
      expect(lock?.attributes).toMatchObject({ 'holdfast.outcome': 'refused', 'holdfast.wait': 'nowait' })
      expect(lock?.attributes).not.toHaveProperty('error.type')
      expect(lock?.status.code).toBe(SpanStatusCode.UNSET)
      expect(lineOf(lock, spans())).toEqual(['lock', 'transaction'])
      // the call has failed all the same
      expect(spansOf('transaction')[0]?.status.code).toBe(SpanStatusCode.ERROR)
      expect(await total('holdfast.lock.timeouts')).toBe(0)
      expect(await total('holdfast.lock.held')).toBe(0)
    })

    test('a wait that takes too long is a failure, and is counted', async () => {
      await using _ = await holding()
      const { spansOf, points, total } = record()
      const { shared } = stage.node(1).meeting
      const wait = { timeoutMs: 50 }
      const error = await caught(shared.withLock(key, async () => {}, { wait }))
      expect(error).toBeInstanceOf(LockTimeoutError)
      const [lock] = spansOf('lock')
      expect(lock?.attributes).toMatchObject({
        'error.type': 'lock-timeout',
        'holdfast.outcome': 'refused',
        'holdfast.wait': 'timeout',
        'holdfast.timeout': 0.05,
      })
      expect(lock?.status).toMatchObject({ code: SpanStatusCode.ERROR, message: (error as Error).message })
      const place = { 'db.system.name': system, 'holdfast.lock.kind': 'named' }
      expect(await points('holdfast.lock.timeouts')).toMatchObject([{ value: 1, attributes: place }])
      const [waited] = await points('holdfast.lock.wait.duration')
      expect(waited?.attributes).toMatchObject({
        'error.type': 'lock-timeout',
        'holdfast.outcome': 'refused',
      })
      expect(waited?.sum).toBeGreaterThan(0)
      expect(await total('holdfast.lock.held')).toBe(0)
    })

    test('a lock that is held until it is released is held in a span of its own', async () => {
      const { tracer, spans, spansOf, total } = record()
      const held = await tracer.startActiveSpan('request', async (request) => {
        const taken = await stage.node().meeting.shared.acquire(key)
        request.end()
        return taken
      })
      expect(spansOf('lock')).toHaveLength(1)
      expect(spansOf('hold lock')).toHaveLength(0)
      expect(await total('holdfast.lock.held')).toBe(1)
      await held.release()
      const [hold] = spansOf('hold lock')
      expect(hold?.attributes).toMatchObject({
        'holdfast.lock.kind': 'session',
        'holdfast.key': JSON.stringify(key),
      })
      expect(lineOf(hold, spans())).toEqual(['hold lock', 'request'])
      expect(lineOf(spansOf('lock')[0], spans())).toEqual(['lock', 'request'])
      expect(await total('holdfast.lock.held')).toBe(0)
      expect(await total('holdfast.lock.hold.duration')).toBe(1)
    })

    test('a lease is counted while it is held, and has its fence', async () => {
      const { spansOf, total } = record()
      const { shared } = stage.node().meeting
      const lease = await shared.lease(key)
      expect(await total('holdfast.lease.held')).toBe(1)
      const busy = await caught(stage.node(1).meeting.shared.lease(key, { wait: { timeoutMs: 50 } }))
      expect(busy).toBeInstanceOf(LockTimeoutError)
      expect(await total('holdfast.lease.timeouts')).toBe(1)
      await lease.release()
      const granted = spansOf('lease').find((span) => span.attributes['holdfast.outcome'] === 'granted')
      const said = {
        'holdfast.lease.fence': lease.fence,
        'holdfast.lease.ttl': 30,
        'holdfast.key': JSON.stringify(key),
      }
      expect(granted?.attributes).toMatchObject(said)
      expect(spansOf('hold lease')[0]?.attributes).toMatchObject(said)
      expect(spansOf('hold lease')[0]?.status.code).toBe(SpanStatusCode.UNSET)
      expect(await total('holdfast.lease.held')).toBe(0)
      expect(await total('holdfast.lease.lost')).toBe(0)
      expect(await total('holdfast.lease.wait.duration')).toBe(2)
    })

    test('a lease that nobody renews is lost, and its hold has failed', async () => {
      const { spansOf, total } = record()
      const lease = await briefly((ttlMs) => stage.node().meeting.shared.lease(key, { ttlMs, renew: false }))
      await until(() => lease.signal.aborted, 'a lease that is over')
      await until(() => spansOf('hold lease').length === 1, 'the end of its span')
      expect(spansOf('hold lease')[0]?.attributes).toMatchObject({ 'error.type': 'lock-lost' })
      expect(spansOf('hold lease')[0]?.status.code).toBe(SpanStatusCode.ERROR)
      expect(await total('holdfast.lease.lost')).toBe(1)
      expect(await total('holdfast.lease.hold.duration')).toBe(1)
      expect(await total('holdfast.lease.held')).toBe(0)
      await caught(lease.release())
    })

    test('with keys: false nothing tells of a key, not even an error', async () => {
      const secret = ['jane@example.org', dialect]
      const { spans, points, metricNames } = record({ keys: false })
      const { shared } = stage.node().meeting
      const held = await shared.acquire(secret)
      await caught(stage.node(1).meeting.shared.acquire(secret, { wait: 'nowait' }))
      await caught(stage.node(1).meeting.shared.withLock(secret, async () => {}, { wait: { timeoutMs: 50 } }))
      await held.release()
      await using lease = await shared.lease(secret)
      await caught(stage.node(1).meeting.shared.lease(secret, { wait: { timeoutMs: 50 } }))
      expect(lease.signal.aborted).toBe(false)
      const told = spans().map(({ name, attributes, status, events }) => ({
        name,
        attributes,
        status,
        events,
      }))
      expect(told.length).toBeGreaterThan(4)
      expect(JSON.stringify(told)).not.toContain('jane')
      for (const name of await metricNames()) expect(JSON.stringify(await points(name))).not.toContain('jane')
    })

    test('a lock that nobody waits for is told too, and nothing stays open', async () => {
      const node = stage.node()
      const { spans, spansOf, total } = record()
      let floating: Promise<unknown> | undefined
      await caught(
        node.meeting.shared.transaction(async (tx) => {
          floating = caught(node.meeting.shared.lock(tx, key))
        }),
      )
      await floating
      await until(() => spansOf('lock').length === 1, 'the answer')
      expect(lineOf(spansOf('lock')[0], spans())).toEqual(['lock', 'transaction'])
      await until(async () => (await total('holdfast.lock.held')) === 0, 'the end of the lock')
    })
  },
  { nodes: 2 },
)
