/*
 * What is used of `@opentelemetry/api`, so that nothing of it is imported: whoever has it passes the module itself.
 */

/** What an attribute may be. */
export type OtelAttributeValue = string | number | boolean | string[]

/** The attributes of a span or of a measurement. */
export type OtelAttributes = Record<string, OtelAttributeValue>

/** A `Context`: which span is the active one. */
export interface OtelContext {
  getValue(key: symbol): unknown
  setValue(key: symbol, value: unknown): OtelContext
  deleteValue(key: symbol): OtelContext
}

/** What is used of a `Span`. */
export interface OtelSpan {
  setAttributes(attributes: OtelAttributes): unknown
  addEvent(name: string, attributes?: OtelAttributes): unknown
  setStatus(status: { code: number; message?: string }): unknown
  end(endTime?: number): void
}

/** What a span is started with. */
export interface OtelSpanOptions {
  /** As `SpanKind` numbers them. */
  kind?: number
  /** What is known at its start. */
  attributes?: OtelAttributes
  /** In milliseconds since 1970, where it has begun before. */
  startTime?: number
}

/** What is used of a `Tracer`. */
export interface OtelTracer {
  startSpan(name: string, options: OtelSpanOptions, context: OtelContext): OtelSpan
}

/** What is used of a `TracerProvider`. */
export interface OtelTracerProvider {
  getTracer(name: string): OtelTracer
}

/** What is used of a `Counter` and of an `UpDownCounter`. */
export interface OtelCounter {
  add(value: number, attributes: OtelAttributes, context?: OtelContext): void
}

/** What is used of a `Histogram`. */
export interface OtelHistogram {
  record(value: number, attributes: OtelAttributes, context?: OtelContext): void
}

/** What a metric is made with. */
export interface OtelMetricOptions {
  /** What it measures, in a sentence. */
  description: string
  /** As UCUM writes it: `s`, or `{lock}` for what is counted. */
  unit: string
  /** Where the bounds of a histogram's buckets are, unless a view says otherwise. */
  advice?: { explicitBucketBoundaries: number[] }
}

/** What is used of a `Meter`. */
export interface OtelMeter {
  createCounter(name: string, options: OtelMetricOptions): OtelCounter
  createUpDownCounter(name: string, options: OtelMetricOptions): OtelCounter
  createHistogram(name: string, options: OtelMetricOptions): OtelHistogram
}

/** What is used of a `MeterProvider`. */
export interface OtelMeterProvider {
  getMeter(name: string): OtelMeter
}

/** What is used of the module `@opentelemetry/api`. */
export interface OtelApi {
  readonly context: {
    active(): OtelContext
    with<T>(context: OtelContext, run: () => T): T
  }
  readonly trace: {
    getTracerProvider(): OtelTracerProvider
    getSpan(context: OtelContext): OtelSpan | undefined
    setSpan(context: OtelContext, span: OtelSpan): OtelContext
  }
  readonly metrics: { getMeterProvider(): OtelMeterProvider }
  readonly diag: { error(message: string, ...details: unknown[]): void }
}

/** As the enumeration `SpanKind` has them. */
export const spanKind = { internal: 0, consumer: 4 } as const

/** As the enumeration `SpanStatusCode` has it. */
export const statusError = 2
