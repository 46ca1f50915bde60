import { setImmediate as nextRound } from 'node:timers/promises'

import { Flight } from '../flight.ts'

/** What some work has started: its statements, and the calls of the ORM that send them later. */
export class Traffic {
  /** What has failed since the work returned. */
  late: unknown
  readonly #flight = new Flight()
  #started = 0
  #hasReturned = false

  start(): void {
    this.#started += 1
    this.#flight.start()
  }

  end(): void {
    this.#flight.land()
  }

  fail(error: unknown): void {
    if (this.#hasReturned) this.late ??= error
    this.#flight.land()
  }

  returned(): void {
    this.#hasReturned = true
  }

  /** Until nothing is under way, here or `elsewhere`, and nothing has followed from what was. */
  async untilStill(elsewhere?: () => Promise<void> | undefined): Promise<void> {
    let seen: number
    do {
      seen = this.#started
      await elsewhere?.()
      await this.#flight.untilNone()
      // an ORM sends a statement some steps after it was asked for it
      await nextRound()
    } while (this.#started !== seen || this.#flight.isBusy)
  }
}
