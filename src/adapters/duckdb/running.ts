import { setImmediate as nextRound, setTimeout as pause } from 'node:timers/promises'

/** The calls that have not been answered, and what their callers were given for them. */
export class Running {
  readonly #told = new Map<Promise<unknown>, Promise<unknown>>()

  get size(): number {
    return this.#told.size
  }

  /** Gives what the call gives, or rejects with what `read` makes of its error. */
  add<T>(result: Promise<T>, read: (error: unknown) => Promise<unknown>): Promise<T> {
    const tell = async (): Promise<T> => {
      try {
        return await result
      } catch (error) {
        throw await read(error)
      } finally {
        this.#told.delete(result)
      }
    }
    const told = tell()
    this.#told.set(result, told)
    return told
  }

  /** Whoever did not wait for these hears of them through the transaction. */
  own(): void {
    for (const told of this.#told.values()) told.catch(() => {})
  }

  settled(): Promise<readonly PromiseSettledResult<unknown>[]> {
    return Promise.allSettled(this.#told.keys())
  }

  /** What follows from a call is sent when that is over, and waited for as well. */
  async untilNone(): Promise<void> {
    while (this.size > 0) {
      await this.settled()
      await nextRound()
    }
  }

  /** An interrupt that comes before a statement has begun is lost, so it is repeated. */
  async interruptAll(connection: { interrupt(): void }): Promise<void> {
    const over = this.untilNone()
    while (this.size > 0) {
      await Promise.race([over, pause(0)])
      if (this.size === 0) return
      connection.interrupt()
      await Promise.race([over, pause(20)])
    }
  }
}
