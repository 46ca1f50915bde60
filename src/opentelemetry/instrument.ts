import { subscribe, unsubscribe } from 'node:diagnostics_channel'

import { LockUsageError } from '../core/errors.ts'
import type { EventFailure, HoldEvent } from '../events/shapes.ts'
import type { OtelApi, OtelMeterProvider, OtelTracerProvider } from './api.ts'
import type { Calls } from './calls.ts'
import { checkInstrument } from './check.ts'
import type { Holds } from './holds.ts'
import { Telemetry } from './telemetry.ts'
import { tellClaims, tellJobs } from './tell-jobs.ts'
import { tellLeases } from './tell-leases.ts'
import { tellLocks } from './tell-locks.ts'
import { tellRetries, tellTransactions } from './tell-transactions.ts'
import type { Wording } from './words.ts'

/** Where it is recorded, and how much of it. */
export interface InstrumentOptions {
  /** Where spans go. @default the global one, also if that is set later */
  readonly tracerProvider?: OtelTracerProvider
  /** Where metrics go. @default the global one, also if that is set later */
  readonly meterProvider?: OtelMeterProvider
  /**
   * Whether spans show keys, ids of jobs and the messages of errors, which name the key. Pass false where a key may tell of
   * a person. Metrics never have them. @default true
   */
  readonly keys?: boolean
}

/** What Holdfast does is being recorded. */
export interface Instrumented {
  /**
   * Records nothing from now on. Spans that are open are ended and marked as unfinished, and nothing counts as held any
   * more; transactions, locks and leases themselves go on. Safe to call twice.
   */
  stop(): void
  /** The same, for `using`. */
  [Symbol.dispose](): void
}

type Hear = (event: never) => void

/** All that is listened to. */
type Ears = Readonly<Record<string, Hear>>

/** In every copy of this package: what two of them listen to would be counted twice. */
const place = Symbol.for('holdfast.opentelemetry')

const running = globalThis as { [place]?: boolean }

export function startInstrument(
  api: OtelApi,
  options: InstrumentOptions,
  systems: Wording['systems'],
): Instrumented {
  checkInstrument(api, options)
  if (running[place] === true)
    throw new LockUsageError('instrument', 'is already running in this process: stop that one first')
  const to = new Telemetry(api, options)
  const { ears, end } = recording(to, { systems, hasKeys: options.keys ?? true })
  const unlisten = listen(to, ears)
  running[place] = true
  let isStopped = false
  const stop = (): void => {
    if (isStopped) return
    isStopped = true
    unlisten()
    end()
    running[place] = false
  }
  return { stop, [Symbol.dispose]: stop }
}

/** What is heard, and what ends all that is open. */
function recording(to: Telemetry, wording: Wording): { readonly ears: Ears; readonly end: () => void } {
  const transactions = tellTransactions(to, wording)
  const locks = tellLocks(to, wording, transactions)
  const leases = tellLeases(to, wording)
  const jobs = tellJobs(to, wording)
  const ears = {
    ...callEars('transaction', transactions),
    'holdfast:transaction:retry': tellRetries(to, wording, transactions),
    ...holdEars('lock', locks, ({ transaction }) => transaction !== undefined),
    ...holdEars('lease', leases, () => false),
    ...callEars('job', jobs),
    'holdfast:job:claimed': tellClaims(to, wording),
  }
  // the locks first: they belong to what is ended next
  const end = (): void => {
    for (const teller of [locks, leases, transactions, jobs]) teller.stop()
  }
  return { ears, end }
}

function callEars<Event extends EventFailure>(name: string, calls: Calls<Event>): Ears {
  return {
    [`tracing:holdfast:${name}:start`]: (event: Event) => calls.start(event),
    [`tracing:holdfast:${name}:error`]: (event: Event) => calls.fail(event),
    [`tracing:holdfast:${name}:asyncEnd`]: (event: Event) => calls.end(event),
  }
}

function holdEars<Event extends HoldEvent>(
  name: string,
  holds: Holds<Event>,
  isInside: (event: Event) => boolean,
): Ears {
  return {
    [`tracing:holdfast:${name}:start`]: (event: Event) => holds.ask(event, isInside(event)),
    [`tracing:holdfast:${name}:error`]: (event: Event) => holds.fail(event),
    [`tracing:holdfast:${name}:asyncEnd`]: (event: Event) => holds.answer(event),
    [`holdfast:${name}:ended`]: (event: Event) => holds.end(event),
  }
}

/** Gives what ends it. What a subscriber throws would end the process, so that nothing leaves here. */
function listen(to: Telemetry, ears: Ears): () => void {
  const subscribed = Object.entries(ears).map(([name, hear]) => {
    const heard = (event: unknown): void => to.safely(() => hear(event as never))
    subscribe(name, heard)
    return () => unsubscribe(name, heard)
  })
  return () => {
    for (const leave of subscribed) leave()
  }
}
