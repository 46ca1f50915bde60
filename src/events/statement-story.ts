import { AsyncLocalStorage } from 'node:async_hooks'

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
  /** Runs what it is given as a part of the calls that have sent it: a driver answers in those that made its connection. */
  readonly within: ReturnType<typeof AsyncLocalStorage.snapshot>
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
    this.#underWay.push({ event, at: performance.now(), within: AsyncLocalStorage.snapshot() })
    statementChannel.start.publish(event)
    statementChannel.end.publish(event)
  }

  answered(error?: unknown): void {
    const sent = this.#underWay.shift()
    sent?.within(() => this.#tell(sent, error))
  }

  #tell({ event, at }: Sent, error: unknown): void {
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
