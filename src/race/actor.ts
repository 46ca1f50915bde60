import type { RaceEvent } from './report.ts'

/** A statement that waits for its turn. */
interface Held {
  readonly text: string
  readonly connection: object
  readonly send: (
    end: (error: unknown, answer?: { readonly rows?: unknown; readonly count?: unknown }) => void,
  ) => void
  readonly refuse: (why: Error) => void
}

/** A statement that was sent and is not answered. */
export interface Running {
  readonly text: string
  /** What the server calls its session. */
  readonly id: string | undefined
  readonly sentAt: number
  /** The version of the gate at which it was last seen waiting; -1 when it never was. */
  seenWaiting: number
  /** Whom it waits for, as the server says. */
  blockedBy?: readonly string[]
}

/** Somebody who waits for a connection. */
export interface Queueing {
  /** Whether it cannot come before another actor gives one back. */
  readonly isStuck: () => boolean
}

type Draft = { -readonly [K in keyof RaceEvent]: RaceEvent[K] }

interface Ending {
  readonly outcome: 'done' | 'failed'
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
  statements = 0
  /** It belongs to a schedule that has ended: nothing is sent for it any longer. */
  isOver = false
  readonly #trace: Draft[] = []

  constructor(name: string) {
    this.name = name
  }

  get isDone(): boolean {
    return this.result !== undefined && this.running.size === 0 && this.pending.length === 0
  }

  get trace(): readonly RaceEvent[] {
    return this.#trace
  }

  /** Whether it may still do something by itself: then it is too early to decide who goes next. */
  isMoving(version: number, patienceMs: number): boolean {
    if (this.isDone) return false
    if ([...this.running].some(({ seenWaiting }) => seenWaiting !== version)) return true
    if (this.running.size > 0 || this.pending.length > 0) return false
    if ([...this.queueing].some(({ isStuck }) => isStuck())) return false
    return performance.now() - this.busySince < patienceMs
  }

  note(event: RaceEvent): object {
    this.#trace.push(event)
    return event
  }

  noteEnd(event: object, { outcome, detail, hasWaited, endMs, untilStep }: Ending): void {
    const draft = event as Draft
    draft.outcome = outcome === 'done' && hasWaited ? 'waits' : outcome
    draft.endMs = endMs
    draft.untilStep = untilStep
    if (detail !== undefined) draft.detail = detail
  }
}
