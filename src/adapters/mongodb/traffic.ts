import { setTimeout as pause } from 'node:timers/promises'
import type { Sign } from './reads.ts'
import { unanswered } from './reply.ts'

/** How long COMMIT waits for what the work has left under way: the server gives no transaction more, unless told. */
export const transactionLifeMs = 60_000

/** What is under way on a session: calls that settle, and operations that the driver has started. */
export class Traffic {
  /** How many operations of the transaction have ended without an answer; below zero while an answer is on its way. */
  unanswered = 0
  /** Whether the work started two before the server had answered one: both ask it to begin the transaction. */
  hasRacedToBegin = false
  /** Whether more operations have ended than were started: they are not counted right. */
  isMiscounted = false
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
    this.isMiscounted = false
    this.#isToBegin = true
  }

  /** Forgets the operations that were counted, because they were not counted right. */
  startOver(): void {
    this.begin()
    this.#isToBegin = false
    this.#operations = 0
    this.#tellIfIdle()
  }

  note(sign: Sign | undefined): void {
    if (sign === 'answer') this.unanswered -= 1
    else if (sign === 'start') this.#start()
    else if (sign === 'end') this.#end()
  }

  /** Makes a call, which waits for the one that begins the transaction. */
  async add<T>(call: () => Promise<T>): Promise<T> {
    while (this.#isToBegin && this.isBusy) {
      if (!(await this.isOverIn(transactionLifeMs))) throw unanswered()
    }
    return this.#untilSettled(call())
  }

  /** Counts what the work has called, until it settles. */
  async follow<T>(operation: Promise<T>): Promise<T> {
    try {
      return await this.#untilSettled(operation)
    } catch (error) {
      this.unanswered += 1
      throw error
    }
  }

  /** Tells whether all is over within that time. */
  async isOverIn(limitMs: number): Promise<boolean> {
    return !this.isBusy || endsIn(limitMs, this.#idle())
  }

  #start(): void {
    if (this.#isToBegin && this.#operations > 0) this.hasRacedToBegin = true
    this.#operations += 1
  }

  #end(): void {
    this.#isToBegin = false
    this.unanswered += 1
    this.#operations -= 1
    this.isMiscounted ||= this.#operations < 0
    this.#tellIfIdle()
  }

  async #untilSettled<T>(call: Promise<T>): Promise<T> {
    this.#calls += 1
    try {
      return await call
    } finally {
      this.#calls -= 1
      this.#tellIfIdle()
    }
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
