import type { Actor } from './actor.ts'

/** A connection while an actor has it. */
export interface Loan {
  readonly actor: Actor
  /** What the server calls it. */
  readonly id: string | undefined
  /** Whether it is inside of a transaction: as the driver knows, else as far as the texts of its statements tell. */
  readonly isOpen: boolean
  /** The driver knows. */
  readonly isKnown: boolean
  /** It went back to the pool, but the transaction on it may be open. */
  isBack: boolean
}

/** What is lent, and what is known of it. */
export interface Lent {
  readonly id?: string | undefined
  /** Whether it is inside of a transaction; undefined where the driver cannot tell. */
  readonly isOpen?: () => boolean | undefined
}

/** What the gate itself knows of a loan. */
export class OwnLoan implements Loan {
  readonly actor: Actor
  readonly id: string | undefined
  readonly #ask: (() => boolean | undefined) | undefined
  /** As the texts say. */
  isOpened = false
  /** The server has ended it, and all that was on it. */
  isLost = false
  isBack = false

  constructor(actor: Actor, { id, isOpen }: Lent) {
    this.actor = actor
    this.id = id
    this.#ask = isOpen
  }

  get isOpen(): boolean {
    return !this.isLost && (this.#ask?.() ?? this.isOpened)
  }

  get isKnown(): boolean {
    return this.#ask?.() !== undefined
  }
}
