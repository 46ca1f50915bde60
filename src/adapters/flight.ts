import { setImmediate as nextRound } from 'node:timers/promises'

/** How many statements of the work are under way. */
export class Flight {
  #count = 0
  #onNone: (() => void) | undefined

  get isBusy(): boolean {
    return this.#count > 0
  }

  /** Whether several are. */
  get isCrowded(): boolean {
    return this.#count > 1
  }

  start(): void {
    this.#count += 1
  }

  readonly land = (): void => {
    this.#count -= 1
    if (this.#count === 0) this.#onNone?.()
  }

  /** Until none is left, and none has followed from the last one. Undefined where there is none now. */
  untilNone(): Promise<void> | undefined {
    return this.isBusy ? this.#untilNone() : undefined
  }

  async #untilNone(): Promise<void> {
    while (this.isBusy) {
      await new Promise<void>((resolve) => {
        this.#onNone = resolve
      })
      // whoever waited for the last one sends the next one now
      await nextRound()
    }
  }
}
