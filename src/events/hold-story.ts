import type { Channel, TracingChannel } from 'node:diagnostics_channel'
import type { ErrorSource } from '../core/classify.ts'
import { performance } from '../core/clock.ts'
import { noteFailure } from './failure.ts'
import { note } from './note.ts'
import type { HoldEvent } from './shapes.ts'

/** Where those listen who hear of what is asked for, granted, and held until it ends. */
export interface HoldChannels {
  /** From the call to the answer. */
  readonly asking: TracingChannel
  /** At the end of what was granted. */
  readonly ended: Channel
}

export function areHeard({ asking, ended }: HoldChannels): boolean {
  return asking.hasSubscribers || ended.hasSubscribers
}

/** Tells of one lock or lease, from the call that asks for it to its end. Only made where somebody listens. */
export class HoldStory<Event extends HoldEvent> {
  readonly #channels: HoldChannels
  #event: Event
  #since = 0
  // not read from the event, which subscribers have in hand
  #outcome: HoldEvent['outcome']
  #isOver = false

  constructor(channels: HoldChannels, event: Event) {
    this.#channels = channels
    this.#event = event
    this.#start()
  }

  #start(): void {
    const { asking } = this.#channels
    this.#since = performance.now()
    asking.start.publish(this.#event)
    asking.end.publish(this.#event)
  }

  /** Says more, before the answer has come. */
  note(more: Partial<Event>): void {
    note(this.#event, more)
  }

  /** It is asked for anew. Does nothing while the first question is open. */
  again(anew: (event: Event) => Event): void {
    if (this.#outcome === undefined) return
    this.#event = anew(this.#event)
    this.#outcome = undefined
    this.#isOver = false
    this.#start()
  }

  /** `more`: what is known of it by now. */
  granted(more: Partial<Event>): void {
    if (this.#outcome !== undefined) return
    note(this.#event, more)
    this.#answered('granted')
  }

  /** `sources`: the databases that the error may come from. */
  refused(error: unknown, sources: readonly ErrorSource[]): void {
    if (this.#outcome !== undefined) return
    noteFailure(this.#event, error, sources)
    this.#answered('refused')
  }

  #answered(outcome: HoldEvent['outcome'] & string): void {
    const { asking } = this.#channels
    const now = performance.now()
    const event: HoldEvent = this.#event
    note(event, { outcome, waitedMs: now - this.#since })
    this.#outcome = outcome
    this.#since = now
    if (outcome === 'refused') asking.error.publish(event)
    asking.asyncStart.publish(event)
    asking.asyncEnd.publish(event)
  }

  /** What was granted is not held any longer. */
  ended(isLost = false): void {
    if (this.#outcome !== 'granted' || this.#isOver) return
    this.#isOver = true
    const event: HoldEvent = this.#event
    note(event, { heldMs: performance.now() - this.#since, isLost })
    this.#channels.ended.publish(event)
  }
}
