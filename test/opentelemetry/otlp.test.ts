import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

import * as api from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { expect, onTestFinished, test } from 'vitest'

import { instrument } from '../../src/entries/opentelemetry.ts'
import { describePatterns } from '../patterns/stage.ts'
import { followContexts } from './recorder.ts'

interface KeyValue {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

interface OtlpSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly KeyValue[]
}

interface OtlpPoint {
  readonly count?: number | string
  readonly asDouble?: number
  readonly bucketCounts?: readonly (number | string)[]
  readonly explicitBounds?: readonly number[]
}

interface OtlpMetric {
  readonly name: string
  readonly unit: string
  readonly histogram?: { readonly dataPoints: readonly OtlpPoint[] }
  readonly sum?: { readonly isMonotonic: boolean; readonly dataPoints: readonly OtlpPoint[] }
}

interface Scoped {
  readonly scope: { readonly name: string }
  readonly spans?: readonly OtlpSpan[]
  readonly metrics?: readonly OtlpMetric[]
}

interface Body {
  readonly resourceSpans?: readonly { readonly scopeSpans: readonly Scoped[] }[]
  readonly resourceMetrics?: readonly { readonly scopeMetrics: readonly Scoped[] }[]
}

interface Received {
  readonly path: string | undefined
  readonly type: string | undefined
  readonly body: Body
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}

/** Takes what a collector takes, on this machine alone. */
async function collector(): Promise<{ readonly url: string; readonly received: readonly Received[] }> {
  const received: Received[] = []
  const server: Server = createServer((request, response) => {
    void bodyOf(request).then((text) => {
      const { url: path, headers } = request
      received.push({ path, type: headers['content-type'], body: JSON.parse(text) as Body })
      response.setHeader('content-type', 'application/json').end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

function valueOf({ attributes }: Pick<OtlpSpan, 'attributes'>, key: string): unknown {
  return Object.values(attributes.find((one) => one.key === key)?.value ?? {})[0]
}

describePatterns(
  (stage) => {
    test('a collector is sent spans and metrics as OTLP has them in JSON', async () => {
      const { url, received } = await collector()
      followContexts()
      const traces = new OTLPTraceExporter({ url: `${url}/v1/traces` })
      const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(traces)] })
      const exporter = new OTLPMetricExporter({ url: `${url}/v1/metrics` })
      const meterProvider = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] })
      const instrumented = instrument(api, { tracerProvider, meterProvider })
      onTestFinished(() => instrumented.stop())
      const { shared } = stage.node().meeting
      await shared.withLock(['otlp', stage.name], async () => {})
      await (await shared.lease(['otlp', stage.name])).release()
      await Promise.all([tracerProvider.shutdown(), meterProvider.shutdown()])

      expect(received.every(({ type }) => type === 'application/json')).toBe(true)
      const spans = scopesIn(received, '/v1/traces').flatMap((scope) => scope.spans ?? [])
      expect(spans.map(({ name }) => name).toSorted()).toEqual(['hold lease', 'lease', 'lock', 'transaction'])
      const [transaction, lock] = ['transaction', 'lock'].map((name) =>
        spans.find((one) => one.name === name),
      )
      expect(lock?.parentSpanId).toBe(transaction?.spanId)
      expect(lock?.traceId).toBe(transaction?.traceId)
      for (const span of spans) expectSpan(span)
      expect(valueOf(transaction ?? { attributes: [] }, 'db.system.name')).toBe(
        stage.name === 'postgres' ? 'postgresql' : stage.name,
      )

      const metrics = scopesIn(received, '/v1/metrics').flatMap((scope) => scope.metrics ?? [])
      const wait = metrics.find(({ name }) => name === 'holdfast.lock.wait.duration')
      expect(wait?.unit).toBe('s')
      const [point] = wait?.histogram?.dataPoints ?? []
      expect(Number(point?.count)).toBe(1)
      expect(point?.explicitBounds).toEqual([0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60])
      expect(point?.bucketCounts).toHaveLength(12)
      const held = metrics.find(({ name }) => name === 'holdfast.lease.held')
      expect(held?.sum).toMatchObject({ isMonotonic: false, dataPoints: [{ asDouble: 0 }] })
    })
  },
  { only: ['postgres', 'sqlite'] },
)

/** What was sent there by us. */
function scopesIn(received: readonly Received[], path: string): readonly Scoped[] {
  return received
    .filter((one) => one.path === path)
    .flatMap(({ body }) => [
      ...(body.resourceSpans ?? []).flatMap((resource) => resource.scopeSpans),
      ...(body.resourceMetrics ?? []).flatMap((resource) => resource.scopeMetrics),
    ])
    .filter(({ scope }) => scope.name === 'holdfast')
}

/** As the protocol has it in JSON: ids in hexadecimal, times as text, since they are larger than a number holds. */
function expectSpan(span: OtlpSpan): void {
  expect(span.traceId).toMatch(/^[0-9a-f]{32}$/)
  expect(span.spanId).toMatch(/^[0-9a-f]{16}$/)
  expect(span.startTimeUnixNano).toMatch(/^\d{19}$/)
  expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano))
  expect(span.kind).toBe(1)
  for (const { value } of span.attributes)
    expect(Object.keys(value)[0]).toMatch(/^(?:string|bool|int|double|array)Value$/)
}
