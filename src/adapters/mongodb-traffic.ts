import { setTimeout as pause } from 'node:timers/promises'

/** What is under way on a session: calls of the adapter's own, and operations of the work that the driver has started. */
export class Traffic {
  /** How many operations of the transaction have ended without an answer; below zero while an answer is on its way. */
  unanswered = 0
  /** Whether the work started two before the server had answered one: both ask it to begin the transaction. */
  hasRacedToBegin = false
  #calls = 0
  #operations = 0
  /** The server has not begun the transaction before it has answered. */
  #isToBegin = false
  #waiting: (() => void)[] = []

  get isBusy(): boolean {
    return this.#calls + this.#operations > 0
  }

  /** A transaction begins, with the first operation that the server is told. */
  begin(): void {
    this.unanswered = 0
    this.hasRacedToBegin = false
    this.#isToBegin = true
  }

  start(): void {
    if (this.#isToBegin && this.#operations > 0) this.hasRacedToBegin = true
    this.#operations += 1
  }

  end(): void {
    this.#isToBegin = false
    this.unanswered += 1
    this.#operations -= 1
    this.#tellIfIdle()
  }

  /** Makes a call, which waits for the one that begins the transaction. */
  async add<T>(call: () => Promise<T>): Promise<T> {
    while (this.#isToBegin && this.isBusy) await this.#idle()
    this.#calls += 1
    try {
      return await call()
    } finally {
      this.#calls -= 1
      this.#tellIfIdle()
    }
  }

  /** Tells whether all is over within that time. */
  async isOverIn(limitMs: number): Promise<boolean> {
    return !this.isBusy || endsIn(limitMs, this.#idle())
  }

  #idle(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #tellIfIdle(): void {
    if (this.isBusy) return
    const waiting = this.#waiting
    this.#waiting = []
    for (const tell of waiting) tell()
  }
}

/** Waits for something that may never come. Tells whether it did in time. */
export async function endsIn(limitMs: number, work: Promise<unknown>): Promise<boolean> {
  const over = new AbortController()
  const limit = pause(limitMs, false, { ref: false, signal: over.signal }).catch(() => false)
  try {
    return await Promise.race([work.then(() => true), limit])
  } finally {
    over.abort()
  }
}
