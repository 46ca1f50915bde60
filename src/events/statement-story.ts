import type { ErrorSource } from '../core/classify.ts'
import { performance } from '../core/clock.ts'
import type { StatementEar } from '../core/session.ts'
import { statementChannel } from './channels.ts'
import { noteFailure } from './failure.ts'
import { note } from './note.ts'
import type { EventPlace, StatementEvent, TransactionEvent } from './shapes.ts'

interface Sent {
  readonly event: StatementEvent
  readonly at: number
}

/** Tells of the statements of one attempt of a transaction. Only made where somebody listens. */
export class StatementStories implements StatementEar {
  readonly #place: EventPlace
  readonly #transaction: TransactionEvent | undefined
  readonly #sources: readonly ErrorSource[]
  readonly #underWay: Sent[] = []

  constructor(place: EventPlace, transaction: TransactionEvent | undefined, sources: readonly ErrorSource[]) {
    this.#place = place
    this.#transaction = transaction
    this.#sources = sources
  }

  sent(text: string, params?: unknown): void {
    const { adapter, dialect } = this.#place
    const event: StatementEvent = { adapter, dialect, text, params, transaction: this.#transaction }
    this.#underWay.push({ event, at: performance.now() })
    statementChannel.start.publish(event)
    statementChannel.end.publish(event)
  }

  answered(error?: unknown): void {
    const sent = this.#underWay.shift()
    if (sent === undefined) return
    const { event, at } = sent
    note(event, { tookMs: performance.now() - at })
    if (error !== undefined) {
      noteFailure(event, error, this.#sources)
      statementChannel.error.publish(event)
    }
    statementChannel.asyncStart.publish(event)
    statementChannel.asyncEnd.publish(event)
  }

  /** The attempt is over: nobody will hear of what is still under way. */
  over(): void {
    while (this.#underWay.length > 0) this.answered()
  }
}
