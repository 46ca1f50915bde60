import type { SavepointWatch } from '../core/session.ts'
import type { SavepointStep, SavepointSteps } from './savepoint-steps.ts'

interface Savepoint {
  readonly name: string | undefined
  readonly at: number
}

/**
 * The savepoints of one transaction, as the server has them: it is told of what the server has done, and not of what
 * was sent. One that is set anew hides the older one of its name, until it is released.
 *
 * Once it cannot be told for certain what the server has, every return counts as one to the beginning.
 */
export class Savepoints implements SavepointWatch {
  now = 0
  returns = 0
  onReturn: SavepointWatch['onReturn']
  readonly #stack: Savepoint[] = []
  #isUnsure = false

  /** Told of a text before it is sent: a lock that is asked for at the same time may be given up by it. */
  announce(steps: SavepointSteps): void {
    for (const step of steps) if (step?.tag === 'ROLLBACK') this.returns += 1
  }

  /** Told of a statement that the server has done. */
  did({ tag, name }: SavepointStep): void {
    this.now += 1
    if (tag === 'SAVEPOINT') {
      this.#stack.push({ name, at: this.now })
      return
    }
    const place = name === undefined ? -1 : this.#stack.findLastIndex((savepoint) => savepoint.name === name)
    if (place < 0) this.#isUnsure = true
    const since = this.#isUnsure ? 0 : (this.#stack[place]?.at ?? 0)
    if (place >= 0) this.#stack.length = tag === 'RELEASE' ? place : place + 1
    if (tag === 'ROLLBACK') this.onReturn?.(since)
  }

  /** Told of a text of which the server has done every statement. */
  didAll(steps: SavepointSteps): void {
    for (const step of steps) if (step !== undefined) this.did(step)
  }

  /** Told of a text that has failed: of several statements nobody knows which. */
  failed(steps: SavepointSteps): void {
    if (steps.length === 1) return
    this.#isUnsure = true
    if (steps.some((step) => step?.tag === 'ROLLBACK')) this.onReturn?.(0)
  }
}
