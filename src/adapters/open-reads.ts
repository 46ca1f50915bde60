/**
 * What the work reads piece by piece, such as a cursor: while it is open, whatever was sent behind it waits. Once the work
 * has returned, one that nobody reads any more is closed, or its transaction would never end.
 */
export class OpenReads {
  /** Those that wait for their reader, and what closes each. */
  readonly #resting = new Map<object, () => void>()
  #hasReturned = false

  /** A transaction begins, on the connection of another. */
  begin(): void {
    this.#hasReturned = false
    this.#resting.clear()
  }

  /** All that it was asked for has been given. */
  rests(read: object, close: () => void): void {
    this.#resting.set(read, close)
    if (this.#hasReturned) this.#closeAfterRound()
  }

  /** It is being read again, or has ended. */
  goesOn(read: object): void {
    this.#resting.delete(read)
  }

  /** The work has returned. What it has left running may still read: in the round in which it has got a piece. */
  returned(): void {
    this.#hasReturned = true
    if (this.#resting.size > 0) this.#closeAfterRound()
  }

  #closeAfterRound(): void {
    const before = [...this.#resting]
    setImmediate(() => {
      for (const [read, close] of before) {
        if (this.#resting.get(read) !== close) continue
        this.#resting.delete(read)
        close()
      }
    })
  }
}
