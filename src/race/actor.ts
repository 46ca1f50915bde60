import type { RaceEvent } from './report.ts'
import type { Answer } from './seen.ts'

/** Tells how a statement has ended; its text, where that was not known before. */
export type End = (error: unknown, answer?: Answer, text?: string) => void

/** A statement that waits for its turn. */
interface Held {
  readonly text: string
  readonly values?: readonly unknown[] | undefined
  readonly connection: object
  readonly isStuck?: (() => boolean) | undefined
  readonly send: (end: End) => void
  readonly refuse: (why: Error) => void
}

/** A statement that was sent and is not answered. */
export interface Running {
  readonly text: string
  /** What the server calls its session. */
  readonly id: string | undefined
  readonly sentAt: number
  /** Whether it waits for something that another actor has in this process, such as the only connection. */
  readonly isStuck?: (() => boolean) | undefined
  /** The version of the gate at which it was last seen waiting; -1 when it never was. */
  seenWaiting: number
  /** Whom it waits for, as the server says. */
  blockedBy?: readonly string[]
}

/** Somebody who waits for a connection. */
export interface Queueing {
  /** Whether it cannot come before another actor gives one back; undefined where nobody knows. */
  readonly isStuck: (() => boolean) | undefined
}

type Draft = { -readonly [K in keyof RaceEvent]: RaceEvent[K] }

interface Ending {
  readonly outcome: 'done' | 'failed'
  readonly text: string | undefined
  readonly detail?: string
  readonly hasWaited: boolean
  readonly endMs: number
  readonly untilStep: number
}

/** One of the user's functions during one schedule. */
export class Actor {
  readonly name: string
  readonly pending: Held[] = []
  readonly running: Set<Running> = new Set()
  readonly queueing: Set<Queueing> = new Set()
  result: PromiseSettledResult<unknown> | undefined
  /** Since when it runs code of its own. */
  busySince: number = performance.now()
  /** Begins its work; undefined once that was done. */
  begin: (() => void) | undefined
  /** It belongs to a schedule that has ended: nothing is sent for it any longer. */
  isOver = false
  /** Its last statement has lost a conflict, and it has begun nothing since. */
  hasLost = false
  readonly #trace: Draft[] = []

  constructor(name: string) {
    this.name = name
  }

  get isDone(): boolean {
    // what it does not await is a part of it: its statements come, and so do its connections
    const isIdle = this.running.size === 0 && this.pending.length === 0 && this.queueing.size === 0
    return this.result !== undefined && isIdle
  }

  get trace(): readonly RaceEvent[] {
    return this.#trace
  }

  /** Whether it can take a step now. */
  get isReady(): boolean {
    return this.pending.length > 0 || this.begin !== undefined
  }

  /** Whether it may still do something by itself: then it is too early to decide who goes next. */
  isMoving(version: number, patienceMs: number): boolean {
    if (this.isDone || this.begin !== undefined) return false
    if ([...this.running].some(({ seenWaiting }) => seenWaiting !== version)) return true
    const stuck = [...this.queueing].map(({ isStuck }) => isStuck?.())
    // a connection is on its way, however long that takes
    if (stuck.includes(false)) return true
    if (this.running.size > 0 || this.pending.length > 0 || stuck.includes(true)) return false
    return performance.now() - this.busySince < patienceMs
  }

  /** Whether it has not ended, and nobody knows what it waits for. */
  get isAway(): boolean {
    const isIdle = this.running.size === 0 && this.queueing.size === 0
    return isIdle && !this.isReady && this.result === undefined
  }

  note(event: RaceEvent): object {
    this.#trace.push(event)
    return event
  }

  noteEnd(event: object, { outcome, text, detail, hasWaited, endMs, untilStep }: Ending): void {
    const draft = event as Draft
    draft.outcome = outcome === 'done' && hasWaited ? 'waits' : outcome
    if (text !== undefined) draft.does = text
    draft.endMs = endMs
    draft.untilStep = untilStep
    if (detail !== undefined) draft.detail = detail
  }
}
