import type { Channel, TracingChannel } from 'node:diagnostics_channel'
import type { ErrorSource } from '../core/classify.ts'
import { performance } from '../core/clock.ts'
import type { Mutable } from '../core/mutable.ts'
import { noteFailure } from './failure.ts'
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
  #event: Mutable<Event>
  #since = 0

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

  /** It is asked for anew. Does nothing while the first question is open. */
  again(anew: (event: Event) => Event): void {
    if (this.#event.outcome === undefined) return
    this.#event = anew(this.#event)
    this.#start()
  }

  /** `more`: what is known of it by now. */
  granted(more: Partial<Event>): void {
    if (this.#event.outcome !== undefined) return
    Object.assign(this.#event, more)
    this.#answered('granted')
  }

  /** `sources`: the databases that the error may come from. */
  refused(error: unknown, sources: readonly ErrorSource[]): void {
    if (this.#event.outcome !== undefined) return
    noteFailure(this.#event, error, sources)
    this.#answered('refused')
  }

  #answered(outcome: HoldEvent['outcome'] & string): void {
    const { asking } = this.#channels
    const now = performance.now()
    const event: Mutable<HoldEvent> = this.#event
    event.outcome = outcome
    event.waitedMs = now - this.#since
    this.#since = now
    if (outcome === 'refused') asking.error.publish(event)
    asking.asyncStart.publish(event)
    asking.asyncEnd.publish(event)
  }

  /** What was granted is not held any longer. */
  ended(isLost = false): void {
    const event: Mutable<HoldEvent> = this.#event
    if (event.outcome !== 'granted' || event.heldMs !== undefined) return
    event.heldMs = performance.now() - this.#since
    event.isLost = isLost
    this.#channels.ended.publish(event)
  }
}
