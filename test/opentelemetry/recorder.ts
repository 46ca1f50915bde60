import * as api from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { MeterProvider, MetricReader, type DataPoint, type Histogram } from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base'
import { onTestFinished } from 'vitest'

import { instrument, type Instrumented, type InstrumentOptions } from '../../src/entries/opentelemetry.ts'

/** One number that was measured, with the attributes that it has a series for. */
export interface Point {
  readonly attributes: Readonly<Record<string, unknown>>
  /** Of a histogram the number of its measurements. */
  readonly value: number
  readonly sum?: number | undefined
}

export interface Recorder {
  readonly tracer: api.Tracer
  readonly instrumented: Instrumented
  /** Every span that has ended, in this order. */
  readonly spans: () => readonly ReadableSpan[]
  readonly spansOf: (name: string) => readonly ReadableSpan[]
  readonly points: (metric: string) => Promise<readonly Point[]>
  /** The sum of all series. */
  readonly total: (metric: string) => Promise<number>
  readonly metricNames: () => Promise<readonly string[]>
}

class HandReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

/** The context of a span follows its work, as in every application with an SDK. */
export function followContexts(): void {
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  onTestFinished(() => api.context.disable())
}

/** Records everything with the real SDK until the test ends. */
export function record(options: InstrumentOptions = {}): Recorder {
  followContexts()
  const exporter = new InMemorySpanExporter()
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  const reader = new HandReader()
  const meterProvider = new MeterProvider({ readers: [reader] })
  const instrumented = instrument(api, { tracerProvider, meterProvider, ...options })
  onTestFinished(() => instrumented.stop())
  const spans = (): readonly ReadableSpan[] => exporter.getFinishedSpans()
  const metrics = async () => {
    const { resourceMetrics } = await reader.collect()
    return resourceMetrics.scopeMetrics.flatMap((one) => one.metrics)
  }
  const points = async (metric: string): Promise<readonly Point[]> => {
    const found = (await metrics()).find(({ descriptor }) => descriptor.name === metric)
    const all = (found?.dataPoints ?? []) as readonly DataPoint<number | Histogram>[]
    return all.map(({ attributes, value }) =>
      typeof value === 'number' ? { attributes, value } : { attributes, value: value.count, sum: value.sum },
    )
  }
  return {
    tracer: tracerProvider.getTracer('the application'),
    instrumented,
    spans,
    spansOf: (name) => spans().filter((span) => span.name === name),
    points,
    total: async (metric) => (await points(metric)).reduce((sum, { value }) => sum + value, 0),
    metricNames: async () => (await metrics()).map(({ descriptor }) => descriptor.name).toSorted(),
  }
}

/** The span that another one is inside of, among those that have ended. */
function parentOf(span: ReadableSpan | undefined, among: readonly ReadableSpan[]): ReadableSpan | undefined {
  const id = span?.parentSpanContext?.spanId
  return among.find((one) => one.spanContext().spanId === id)
}

/** The names from a span up to the one that has no parent. */
export function lineOf(span: ReadableSpan | undefined, among: readonly ReadableSpan[]): readonly string[] {
  const parent = parentOf(span, among)
  return span === undefined ? [] : [span.name, ...lineOf(parent, among)]
}
