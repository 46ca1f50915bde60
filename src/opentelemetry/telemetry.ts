import type {
  OtelApi,
  OtelAttributes,
  OtelContext,
  OtelCounter,
  OtelHistogram,
  OtelMeterProvider,
  OtelSpan,
  OtelSpanOptions,
  OtelTracer,
  OtelTracerProvider,
} from './api.ts'
import { metricList, type MetricId } from './metric-list.ts'

/** Where spans and measurements go. */
export interface Providers {
  readonly tracerProvider?: OtelTracerProvider | undefined
  readonly meterProvider?: OtelMeterProvider | undefined
}

/** Measures how much of something there is now. The last measurement goes where the first one went. */
export interface Level {
  readonly drop: () => void
}

/** What a measurement is told with. */
export interface Tags {
  readonly attributes: OtelAttributes
  /** Where it was made, for an SDK that shows examples. */
  readonly context?: OtelContext | undefined
}

const scope = 'holdfast'

/**
 * OpenTelemetry as the rest sees it: nothing here ever throws, whatever an SDK, a sampler or an exporter does. Providers
 * are looked up each time, because an application may set up its SDK after it has loaded everything else.
 */
export class Telemetry {
  readonly #api: OtelApi
  readonly #given: Providers
  #tracer: { readonly from: OtelTracerProvider; readonly tracer: OtelTracer } | undefined
  #meters: { readonly from: OtelMeterProvider; readonly made: Map<MetricId, OtelCounter | OtelHistogram> }

  constructor(api: OtelApi, given: Providers) {
    this.#api = api
    this.#given = given
    this.#meters = { from: { getMeter: nothing }, made: new Map() }
  }

  /** Does it, and tells OpenTelemetry's own log where it throws. */
  safely<T>(does: () => T): T | undefined {
    try {
      return does()
    } catch (error) {
      try {
        this.#api.diag.error('holdfast could not record something', error)
      } catch {
        // then nobody is told
      }
      return undefined
    }
  }

  /** The caller's. */
  active(): OtelContext | undefined {
    return this.safely(() => this.#api.context.active())
  }

  hasSpan(context: OtelContext | undefined): boolean {
    return context !== undefined && this.safely(() => this.#api.trace.getSpan(context)) !== undefined
  }

  /** A span that has begun, and the context of what happens inside of it. */
  start(
    name: string,
    options: OtelSpanOptions,
    parent: OtelContext | undefined = this.active(),
  ): { readonly span: OtelSpan; readonly context: OtelContext } | undefined {
    return this.safely(() => {
      const context = parent ?? this.#api.context.active()
      const span = this.#tracerNow().startSpan(name, options, context)
      return { span, context: this.#api.trace.setSpan(context, span) }
    })
  }

  /** Runs it in the context, exactly once, whatever the manager of contexts does. */
  within<T>(context: OtelContext, run: () => Promise<T>): Promise<T> {
    const start = once(run)
    void this.safely(() => this.#api.context.with(context, start))
    return start()
  }

  record(id: MetricId, value: number, { attributes, context }: Tags): void {
    this.safely(() => {
      const metric = this.#metric(id)
      if ('record' in metric) metric.record(value, attributes, context)
      else metric.add(value, attributes, context)
    })
  }

  /** There is one more, until that is dropped. */
  raise(id: MetricId, attributes: OtelAttributes): Level {
    const metric = this.safely(() => this.#metric(id))
    const add = (value: number): void => {
      if (metric !== undefined && 'add' in metric) this.safely(() => metric.add(value, attributes))
    }
    add(1)
    return { drop: () => add(-1) }
  }

  #tracerNow(): OtelTracer {
    const from = this.#given.tracerProvider ?? this.#api.trace.getTracerProvider()
    if (this.#tracer?.from !== from) this.#tracer = { from, tracer: from.getTracer(scope) }
    return this.#tracer.tracer
  }

  #metric(id: MetricId): OtelCounter | OtelHistogram {
    const from = this.#given.meterProvider ?? this.#api.metrics.getMeterProvider()
    if (this.#meters.from !== from) this.#meters = { from, made: new Map() }
    const { made } = this.#meters
    const metric = made.get(id) ?? makeMetric(from, id)
    made.set(id, metric)
    return metric
  }
}

function makeMetric(from: OtelMeterProvider, id: MetricId): OtelCounter | OtelHistogram {
  const { name, type, options } = metricList[id]
  const meter = from.getMeter(scope)
  if (type === 'histogram') return meter.createHistogram(name, options)
  return type === 'counter' ? meter.createCounter(name, options) : meter.createUpDownCounter(name, options)
}

function nothing(): never {
  throw new Error('there is no meter')
}

/** However often it is called, it runs once. A call that throws at once is one that rejects. */
function once<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  const start = (): Promise<T> => {
    try {
      return run()
    } catch (error) {
      return failWith(error)
    }
  }
  return () => (running ??= start())
}

async function failWith(error: unknown): Promise<never> {
  throw error
}
