import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'

import { classifyError } from '../classify.ts'
import { Actor, type End, type Queueing, type Running } from './actor.ts'
import { OwnLoan, type Lent, type Loan } from './loan.ts'
import { effectOf, readsBeginTime } from './quiet.ts'
import { seenIn, withValues, type Answer } from './seen.ts'

/** A statement on its way to the database. */
export interface Statement {
  readonly text: string
  readonly values?: readonly unknown[] | undefined
  /** Sends it; `end` has to be called with how it ended, before whoever sent it is told. */
  readonly send: (end: End) => void
  /** Whether it waits in this process, once it is sent. */
  readonly isStuck?: () => boolean
  /** Tells whoever sent it that it is never sent. */
  readonly refuse: (why: Error) => void
}

/** A statement of a synchronous driver, and how it ended. */
export interface Passed {
  readonly text: string
  readonly error: unknown
  readonly answer: Answer | undefined
}

/**
 * Who runs. One for all explorations: each that was ever used is handed on with every promise of the process, and whoever
 * is left over from one exploration is known in the next.
 */
const context = new AsyncLocalStorage<Actor>()

/** Where the statements of the actors are held back until it is their turn. */
export class Gate {
  readonly #loans = new Map<object, OwnLoan>()
  readonly #leavers = new Set<Actor>()
  #actors: readonly Actor[] = []
  #wake: (() => void) | undefined
  #began = 0
  /** Rises with everything that may end or begin a wait. */
  version = 0
  /** Rises with everything that happens. */
  changes = 0
  /** How many statements were sent. */
  step = 0
  /** Why the orders that were run may not be all, in sentences. */
  readonly doubts: Set<string> = new Set()
  /** What has to be known, and is no reason for doubts. */
  readonly notes: Set<string> = new Set()
  /** A statement was seen that may read when its transaction began. */
  readsBeginTime = false
  /** Called behind each statement that could not be held back. */
  onPassed: ((actor: Actor) => void) | undefined

  /** What is told to whoever sends a statement when its schedule is over. */
  get refusal(): Error {
    return new Error('the schedule of this actor was given up: its statement was not sent')
  }

  /** A new schedule begins: whoever is left over from the one before is refused. */
  begin(names: readonly string[]): readonly Actor[] {
    for (const actor of this.#actors) actor.isOver = true
    this.#loans.clear()
    this.#leavers.clear()
    this.#actors = names.map((name) => new Actor(name))
    this.#began = performance.now()
    this.step = 0
    return this.#actors
  }

  get actors(): readonly Actor[] {
    return this.#actors
  }

  get loans(): ReadonlyMap<object, Loan> {
    return this.#loans
  }

  /** Those whose transactions another actor was given with a connection. */
  get leavers(): ReadonlySet<Actor> {
    return this.#leavers
  }

  /** Who runs now; undefined outside of the actors. */
  get current(): Actor | undefined {
    return context.getStore()
  }

  /** Its work begins with its first step. */
  prepare(actor: Actor, work: () => unknown): void {
    const run = async (): Promise<unknown> => work()
    // it may begin in the middle of another's work, and is no part of that
    actor.begin = AsyncResource.bind(() => {
      actor.begin = undefined
      actor.busySince = performance.now()
      context.run(actor, run).then(
        (value) => this.#settled(actor, { status: 'fulfilled', value }),
        (reason: unknown) => this.#settled(actor, { status: 'rejected', reason }),
      )
    })
  }

  /** Runs a callback as the actor whose it is: a pool calls it from wherever a connection came free. */
  within(actor: Actor, callback: () => void): void {
    context.run(actor, callback)
  }

  isHolding(connection: object): boolean {
    return this.#loans.has(connection)
  }

  /** Somebody wants a connection; what it gives is called when that has come, or has failed to. */
  queue(actor: Actor, isStuck?: () => boolean): () => void {
    const queueing: Queueing = { isStuck }
    actor.queueing.add(queueing)
    this.#changed()
    return () => {
      if (actor.queueing.delete(queueing)) this.#changed(actor)
    }
  }

  lend(connection: object, actor: Actor, lent: Lent = {}): void {
    const before = this.#loans.get(connection)
    // whoever had it before gave it back inside of a transaction, and this one goes on with that
    if (before?.isBack === true && before.isKnown && before.isOpen) this.#leavers.add(before.actor)
    this.#loans.set(connection, new OwnLoan(actor, lent))
  }

  giveBack(connection: object): void {
    const loan = this.#loans.get(connection)
    if (loan === undefined) return
    loan.isBack = true
    // one that goes back inside of a transaction is still looked at
    if (!loan.isOpen) this.#loans.delete(connection)
    this.version += 1
    this.#changed()
  }

  /** Holds a statement back. False where the connection is no actor's: then it is the caller who sends it. */
  hold(connection: object, { send, ...statement }: Statement): boolean {
    const loan = this.#loans.get(connection)
    const actor = loan?.actor
    if (actor === undefined) return false
    if (actor.isOver) {
      if (actor.result !== undefined) this.doubts.add(lateOf(actor))
      statement.refuse(this.refusal)
      return true
    }
    if (actor.pending.some((other) => other.connection !== connection)) this.doubts.add(atOnceOf(actor))
    this.readsBeginTime ||= readsBeginTime(statement.text)
    // it is sent for whoever asked, and not for whoever lets it go; AsyncResource.bind does the same and costs far more
    const asker = new AsyncResource('RaceStatement')
    actor.pending.push({
      ...statement,
      connection,
      send: (end) => asker.runInAsyncScope(send, undefined, end),
    })
    this.#changed(actor)
    return true
  }

  /** Notes a statement that is over already. */
  passed(actor: Actor, { text, error, answer }: Passed): void {
    this.step += 1
    const startMs = this.#since()
    const entry = actor.note({
      actor: actor.name,
      does: text,
      step: this.step,
      startMs,
      outcome: 'unfinished',
    })
    const ending = { text: undefined, hasWaited: false, endMs: startMs, untilStep: this.step }
    actor.noteEnd(entry, { ...seenIn(error, answer), ...ending })
    this.#changed(actor)
    this.onPassed?.(actor)
  }

  /** Notes what a statement that was not held back makes of the transaction on its connection. */
  sent(connection: object, text: string): void {
    const loan = this.#loans.get(connection)
    const effect = effectOf(text)
    if (loan !== undefined && effect !== undefined) loan.isOpened = effect === 'opens'
    this.readsBeginTime ||= readsBeginTime(text)
  }

  /** Lets somebody take a step. */
  release(actor: Actor): string {
    const next = actor.pending.shift()
    if (next === undefined) throw new TypeError(`${actor.name} has no statement to send`)
    this.step += 1
    this.version += 1
    const loan = this.#loans.get(next.connection)
    const event = {
      actor: actor.name,
      does: withValues(next.text, next.values),
      step: this.step,
      startMs: this.#since(),
    }
    const running: Running = {
      text: next.text,
      id: loan?.id,
      isStuck: next.isStuck,
      seenWaiting: -1,
      sentAt: performance.now(),
    }
    const entry = actor.note({ ...event, outcome: 'unfinished' })
    actor.running.add(running)
    const effect = effectOf(next.text)
    if (effect !== 'ends') actor.hasLost = false
    if (loan !== undefined && effect === 'opens') loan.isOpened = true
    next.send((error, answer, text) => {
      actor.running.delete(running)
      this.version += 1
      noteFailure(error, actor, loan)
      // a COMMIT that fails ends the transaction as well
      if (loan !== undefined && effect === 'ends') loan.isOpened = false
      actor.noteEnd(entry, {
        ...seenIn(error, answer),
        text,
        hasWaited: running.seenWaiting >= 0,
        endMs: this.#since(),
        untilStep: this.step,
      })
      this.#changed(actor)
    })
    return next.text
  }

  /** Notes which of the running statements wait in this process: that needs no look at the server. */
  noteStuck(): void {
    for (const { running } of this.#actors) {
      for (const one of running) if (one.isStuck?.() === true) one.seenWaiting = this.version
    }
  }

  /** Resolves as soon as anything happens, or after so long. */
  async change(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => done(false), ms)
      const done = (hasChanged: boolean): void => {
        clearTimeout(timer)
        this.#wake = undefined
        resolve(hasChanged)
      }
      this.#wake = () => done(true)
    })
  }

  /** Refuses what is held back, and whatever the actors send from now on. */
  abandon(): void {
    for (const actor of this.#actors) {
      actor.isOver = true
      for (const { refuse } of actor.pending.splice(0)) refuse(this.refusal)
    }
  }

  #settled(actor: Actor, result: PromiseSettledResult<unknown>): void {
    actor.result = result
    this.#changed(actor)
  }

  #since(): number {
    return Math.round((performance.now() - this.#began) * 10) / 10
  }

  #changed(actor?: Actor): void {
    if (actor !== undefined) actor.busySince = performance.now()
    this.changes += 1
    this.#wake?.()
  }
}

function noteFailure(error: unknown, actor: Actor, loan: OwnLoan | undefined): void {
  if (error === undefined || error === null) return
  const { retryable, kind } = classifyError(error)
  if (retryable) actor.hasLost = true
  if (kind === 'connection-lost' && loan !== undefined) loan.isLost = true
}

function lateOf({ name }: Actor): string {
  return `${name} sent a statement when its schedule was over: something in it is not awaited`
}

function atOnceOf({ name }: Actor): string {
  return `${name} sends statements on several connections at once: they were let go in the order in which they came, and no other was tried`
}
