import type { OtelApi } from '../opentelemetry/api.ts'
import { startInstrument, type Instrumented, type InstrumentOptions } from '../opentelemetry/instrument.ts'

export type {
  OtelApi,
  OtelAttributes,
  OtelAttributeValue,
  OtelContext,
  OtelCounter,
  OtelHistogram,
  OtelMeter,
  OtelMeterProvider,
  OtelMetricOptions,
  OtelSpan,
  OtelSpanOptions,
  OtelTracer,
  OtelTracerProvider,
} from '../opentelemetry/api.ts'
export type { Instrumented, InstrumentOptions } from '../opentelemetry/instrument.ts'

/** What the conventions call a database, where that is not the name of its dialect. */
const systems: Readonly<Record<string, string>> = { postgres: 'postgresql', mssql: 'microsoft.sql_server' }

/**
 * Records every transaction, lock, lease and job of this process with OpenTelemetry: spans whose parent is the caller's
 * active span, and metrics. Once in a process: a second call is refused until the first has been stopped.
 *
 * Never throws into a lock's way, whatever the SDK does. Records from the moment of the call.
 */
export function instrument(api: OtelApi, options: InstrumentOptions = {}): Instrumented {
  return startInstrument(api, options, systems)
}
