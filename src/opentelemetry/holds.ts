import { dateMs, performance } from '../core/clock.ts'
import type { HoldEvent } from '../events/shapes.ts'
import { spanKind, type OtelAttributes, type OtelContext, type OtelSpan } from './api.ts'
import { Book } from './book.ts'
import type { MetricId } from './metric-list.ts'
import type { Level, Telemetry } from './telemetry.ts'
import { errorType, markFailed, type Wording } from './words.ts'

/** What tells of locks, or of leases. */
export interface HoldWords<Event> {
  readonly nameOf: (event: Event) => string
  /** Of the span from the call to the answer. */
  readonly asAnswered: (event: Event) => OtelAttributes
  /** Of measurements: few values each. */
  readonly asMeasured: (event: Event) => OtelAttributes
  readonly metrics: Readonly<Record<'wait' | 'hold' | 'held' | 'timeouts' | 'lost', MetricId>>
  /** The context that it belongs to, where that is not the one in which it was asked for. */
  readonly parentOf: (event: Event, asked: Asked) => OtelContext | undefined
  /** Whether it may be held when everything around it has ended: then that is a span of its own. */
  readonly isLasting: (event: Event) => boolean
  readonly onRefused?: (event: Event, parent: OtelContext | undefined) => void
  readonly onEnd?: (event: Event, seconds: number) => void
}

/** What was asked for and is not answered. */
export interface Asked {
  readonly context: OtelContext | undefined
  /** On the monotonic clock. */
  readonly since: number
  /** In milliseconds since 1970. */
  readonly date: number
  /** Whether its transaction was under way. */
  readonly isInside: boolean
  hasFailed: boolean
}

/** What was granted and has not ended. */
interface Held {
  readonly span: OtelSpan | undefined
  readonly since: number
  readonly attributes: OtelAttributes
  readonly level: Level
}

/**
 * Spans of what is asked for. They are made when the answer has come, with the time of the call: only then it is known
 * which transaction a lock belongs to.
 */
export class Holds<Event extends HoldEvent & object> {
  readonly #to: Telemetry
  readonly #wording: Wording
  readonly #words: HoldWords<Event>
  readonly #asked = new Book<Asked>()
  readonly #held = new Book<Held>()

  constructor(to: Telemetry, wording: Wording, words: HoldWords<Event>) {
    this.#to = to
    this.#wording = wording
    this.#words = words
  }

  ask(event: Event, isInside: boolean): void {
    const context = this.#to.active()
    this.#asked.add(event, { context, since: performance.now(), date: dateMs(), isInside, hasFailed: false })
  }

  /** Told before the answer. */
  fail(event: Event): void {
    const asked = this.#asked.get(event)
    if (asked !== undefined) asked.hasFailed = true
  }

  answer(event: Event): void {
    const asked = this.#asked.take(event)
    if (asked === undefined) return
    const waitedMs = performance.now() - asked.since
    const parent = this.#tellWait(event, asked, { waitedMs })
    const attributes = this.#to.safely(() => this.#words.asMeasured(event)) ?? {}
    const { metrics } = this.#words
    const failure = asked.hasFailed && !isDeclined(event) ? { 'error.type': errorType(event) } : {}
    const outcome = { 'holdfast.outcome': asked.hasFailed ? 'refused' : 'granted' }
    const tags = { attributes: { ...attributes, ...outcome, ...failure }, context: parent }
    this.#to.record(metrics.wait, waitedMs / 1000, tags)
    if (!asked.hasFailed) this.#hold(event, attributes, parent)
    else this.#refuse(event, attributes, parent)
  }

  #refuse(event: Event, attributes: OtelAttributes, parent: OtelContext | undefined): void {
    if (event.errorKind === 'lock-timeout')
      this.#to.record(this.#words.metrics.timeouts, 1, { attributes, context: parent })
    this.#to.safely(() => this.#words.onRefused?.(event, parent))
  }

  end(event: Event): void {
    const held = this.#held.take(event)
    if (held === undefined) return
    const { span, since, attributes, level } = held
    const seconds = (performance.now() - since) / 1000
    const isLost = event.isLost === true
    level.drop()
    const { metrics, onEnd } = this.#words
    this.#to.record(metrics.hold, seconds, { attributes: { ...attributes, 'holdfast.lost': isLost } })
    if (isLost) this.#to.record(metrics.lost, 1, { attributes })
    this.#to.safely(() => onEnd?.(event, seconds))
    if (span === undefined) return
    if (isLost) this.#to.safely(() => markFailed(span, 'lock-lost', { hasKeys: false }))
    this.#to.safely(() => span.end())
  }

  /** Ends every span that is open, and counts nothing as held; the locks themselves go on. */
  stop(): void {
    for (const [event, asked] of this.#asked.takeAll())
      this.#tellWait(event as Event, asked, { waitedMs: performance.now() - asked.since, isUnfinished: true })
    for (const [, { span, level }] of this.#held.takeAll()) {
      level.drop()
      this.#to.safely(() => span?.setAttributes({ 'holdfast.unfinished': true }))
      this.#to.safely(() => span?.end())
    }
  }

  /** Gives the context that the span is in. */
  #tellWait(event: Event, asked: Asked, how: Wait): OtelContext | undefined {
    const { nameOf, asAnswered, parentOf } = this.#words
    const parent = this.#to.safely(() => parentOf(event, asked)) ?? asked.context
    const { waitedMs, isUnfinished = false } = how
    const outcome: OtelAttributes = isUnfinished
      ? { 'holdfast.unfinished': true }
      : { 'holdfast.outcome': asked.hasFailed ? 'refused' : 'granted' }
    const attributes = { ...this.#to.safely(() => asAnswered(event)), ...outcome }
    const options = { kind: spanKind.internal, attributes, startTime: asked.date }
    const begun = this.#to.start(nameOf(event), options, parent)
    const span = begun?.span
    if (span === undefined) return parent
    if (asked.hasFailed && !isDeclined(event)) {
      const said = { hasKeys: this.#wording.hasKeys, error: event.error }
      this.#to.safely(() => markFailed(span, errorType(event), said))
    }
    this.#to.safely(() => span.end(asked.date + waitedMs))
    return parent
  }

  #hold(event: Event, attributes: OtelAttributes, parent: OtelContext | undefined): void {
    const { metrics, isLasting, nameOf, asAnswered } = this.#words
    const options = { kind: spanKind.internal, attributes: this.#to.safely(() => asAnswered(event)) ?? {} }
    const begun = isLasting(event) ? this.#to.start(`hold ${nameOf(event)}`, options, parent) : undefined
    const level = this.#to.raise(metrics.held, attributes)
    this.#held.add(event, { span: begun?.span, since: performance.now(), attributes, level })
  }
}

interface Wait {
  readonly waitedMs: number
  /** Whether nobody heard the answer. */
  readonly isUnfinished?: boolean
}

/** Whether another has it and the caller did not want to wait: an answer, and no failure. */
function isDeclined({ errorKind }: HoldEvent): boolean {
  return errorKind === 'lock-not-available'
}
