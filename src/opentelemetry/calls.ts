import { performance } from '../core/clock.ts'
import { runBy } from '../events/around.ts'
import type { EventFailure } from '../events/shapes.ts'
import type { OtelAttributes, OtelContext, OtelSpan, OtelSpanOptions } from './api.ts'
import { Book } from './book.ts'
import type { Telemetry } from './telemetry.ts'
import { errorType, markFailed, type Wording } from './words.ts'

/** A transaction or a job that is under way. */
export interface Call {
  readonly span: OtelSpan | undefined
  readonly context: OtelContext | undefined
  /** On the monotonic clock. */
  readonly since: number
  hasFailed: boolean
  /** How long its locks were held, the longest of them, in seconds. */
  heldFor?: number
}

/** What tells of calls: what they are told as, at their start and at their end. */
export interface CallWords<Event> {
  readonly nameOf: (event: Event) => string
  readonly kind: number
  readonly asStarted: (event: Event) => OtelAttributes
  readonly asEnded: (event: Event, call: Call) => OtelAttributes
  /** What it counts as. */
  readonly measure: (event: Event, ended: EndedCall) => void
}

/** A call that has ended. */
export interface EndedCall {
  readonly seconds: number
  readonly context: OtelContext | undefined
  /** With the type of the error, where it has failed. */
  readonly failure: OtelAttributes
}

/** Spans of what runs for a while, and is the parent of all that happens inside. */
export class Calls<Event extends EventFailure & object> {
  readonly #to: Telemetry
  readonly #wording: Wording
  readonly #words: CallWords<Event>
  readonly #open = new Book<Call>()
  /** Known for longer than the call: what is refused is told when its transaction has ended. */
  readonly #contexts = new WeakMap<object, OtelContext>()

  constructor(to: Telemetry, wording: Wording, words: CallWords<Event>) {
    this.#to = to
    this.#wording = wording
    this.#words = words
  }

  start(event: Event): void {
    const { nameOf, kind, asStarted } = this.#words
    const options = this.#to.safely((): OtelSpanOptions => ({ kind, attributes: asStarted(event) })) ?? {
      kind,
    }
    const begun = this.#to.start(nameOf(event), options)
    const { span, context } = begun ?? {}
    this.#open.add(event, { span, context, since: performance.now(), hasFailed: false })
    if (context === undefined) return
    this.#contexts.set(event, context)
    runBy(event, (run) => this.#to.within(context, run))
  }

  /** Told before the end. */
  fail(event: Event): void {
    const call = this.#open.get(event)
    if (call !== undefined) call.hasFailed = true
  }

  end(event: Event): void {
    const call = this.#open.take(event)
    if (call === undefined) return
    const seconds = (performance.now() - call.since) / 1000
    const failure: OtelAttributes = call.hasFailed ? { 'error.type': errorType(event) } : {}
    this.#to.safely(() => this.#words.measure(event, { seconds, context: call.context, failure }))
    this.#finish(event, call)
  }

  get(event: Event): Call | undefined {
    return this.#open.get(event)
  }

  contextOf(event: Event): OtelContext | undefined {
    return this.#contexts.get(event)
  }

  /** Ends every span that is open; what they tell of goes on. */
  stop(): void {
    for (const [event, call] of this.#open.takeAll()) {
      this.#to.safely(() => call.span?.setAttributes({ 'holdfast.unfinished': true }))
      this.#finish(event as Event, call)
    }
  }

  #finish(event: Event, call: Call): void {
    const { span, hasFailed } = call
    if (span === undefined) return
    this.#to.safely(() => span.setAttributes(this.#words.asEnded(event, call)))
    const { hasKeys } = this.#wording
    if (hasFailed) this.#to.safely(() => markFailed(span, errorType(event), { hasKeys, error: event.error }))
    this.#to.safely(() => span.end())
  }
}
