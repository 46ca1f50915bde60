import { setImmediate as nextRound } from 'node:timers/promises'

import { isMarkGone, setMark, takeMark } from './mark.ts'
import { isInTransaction } from './server-status.ts'
import { Streams } from './streams.ts'
import type { Callback, Wire } from './wire.ts'
import { fateWords } from './words.ts'
import { fateBy } from '../statement-fate.ts'
import { TransactionBody, type Manner } from '../transaction-body.ts'
import { leftOpen } from '../transaction-end.ts'

const [anyFate, oneFate] = [fateBy(fateWords), fateBy(fateWords, true)]

interface Waiting<Command> {
  readonly command: Command
  readonly manner: Manner
  readonly isOfWork: boolean
}

/**
 * The statements of one connection, in the order in which they were given. The next one is sent when the former has been
 * answered, and not before that answer was looked at: a deadlock ends the transaction, and what a driver has sent behind
 * it, or has in its own queue, would be stored on its own.
 */
export class Line<Command extends object = object> {
  readonly body: TransactionBody
  readonly wire: Wire<Command>
  #isLent = false
  #isAsking = false
  /** How the command that is being added is to be treated, when it is one of our own. */
  #manner: Manner | undefined
  #running: Command | undefined
  /** Which one that is: what hears of it must not lead to it, see {@link Line.#start}. */
  #turn = 0
  #waiting: Waiting<Command>[] = []
  #onIdle: (() => void) | undefined
  #streams: Streams | undefined

  constructor(wire: Wire<Command>) {
    this.wire = wire
    this.body = new TransactionBody({ fateOf: wire.takesSeveral ? anyFate : oneFate, isEndedByErrors: true })
  }

  lend(): void {
    this.wire.attach((command) => this.#take(command))
    this.#isLent = true
  }

  /** `isFollowed`: autocommit is off, and the end of the transaction would be the beginning of another. */
  begin(isFollowed = false): void {
    this.body.begin(isFollowed)
    this.#streams = undefined
  }

  giveBack(): void {
    this.#isLent = false
    this.wire.detach?.()
    this.body.over()
  }

  /** A statement of our own, behind all that was given before. */
  send(query: unknown, manner: Manner): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#manner = manner
      this.wire.query(query, (error, answer) => (error == null ? resolve(answer) : reject(error)))
      this.#manner = undefined
    })
  }

  /** Asks whether the transaction is there, behind all that was given before. */
  async ask(): Promise<void> {
    try {
      this.body.told(isInTransaction(this.wire.statusOf(await this.send(this.#question, 'free'))))
    } catch (error) {
      if (!this.#saysGone(error)) throw error
      this.body.told(false)
    }
  }

  /** Rejects where the database has ended the transaction. */
  async confirm(): Promise<void> {
    if (!this.body.isInDoubt) return
    await this.ask()
    if (this.body.end !== undefined) throw this.body.end
  }

  /** Until nothing of the work is under way, and nothing has followed from the last of it. */
  untilIdle(): Promise<void> | undefined {
    this.body.returned()
    this.#streams?.returned()
    return this.#isBusy ? this.#untilIdle() : undefined
  }

  get #isBusy(): boolean {
    return this.#running !== undefined || this.#waiting.length > 0
  }

  async #untilIdle(): Promise<void> {
    while (this.#isBusy) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve
      })
      // whoever waited for the last one sends the next one now
      await nextRound()
    }
  }

  /** Refuses what has not been sent yet. */
  drop(why: Error): void {
    const dropped = this.#waiting
    this.#waiting = []
    for (const { command } of dropped) this.wire.refuse(command, why)
  }

  /** For a connection that was ended by the client: the driver leaves what runs on it without an answer. */
  cancel(why: Error): void {
    const running = this.#running
    this.#running = undefined
    if (running !== undefined) this.wire.refuse(running, why)
    this.drop(why)
    this.#onIdle?.()
  }

  /** The command that runs has been told. */
  #end(why: Error): void {
    this.#running = undefined
    this.drop(why)
    this.#onIdle?.()
  }

  #take(command: Command): Command {
    const manner = this.#manner
    this.#manner = undefined
    if (!this.#isLent) return this.#pass(command)
    const kind = this.wire.textOf(command) === undefined ? this.wire.kindOf(command) : undefined
    if (kind === 'closing' && this.body.isOpen)
      return this.#queue({ command, manner: 'free', isOfWork: false })
    if (kind !== undefined && kind !== 'ping') {
      // A pool that says goodbye, or what makes the session new, and ends the transaction. The driver takes nothing
      // more behind a goodbye, so it cannot wait here.
      if (this.body.isOpen) this.body.isInDoubt = true
      return this.#pass(command)
    }
    const isOfWork = manner === undefined
    const closed = isOfWork ? this.body.closed : undefined
    if (closed !== undefined) {
      this.wire.refuse(command, closed)
      return command
    }
    if (isOfWork) this.wire.watchStream(command, this.#watchedStreams)
    return this.#queue({ command, manner: manner ?? 'checked', isOfWork })
  }

  #pass(command: Command): Command {
    this.wire.add(command)
    return command
  }

  #queue(waiting: Waiting<Command>): Command {
    this.#waiting.push(waiting)
    this.#next()
    return waiting.command
  }

  readonly #watchedStreams = (): Streams => {
    if (this.#streams !== undefined) return this.#streams
    const streams = new Streams(() => this.body.failed(leftOpen(), true))
    if (this.body.hasReturned) streams.returned()
    return (this.#streams = streams)
  }

  #next(): void {
    if (this.#running !== undefined || this.#isAsking) return
    const [next] = this.#waiting
    if (next === undefined) return this.#onIdle?.()
    if (this.body.end === undefined && this.body.asksBefore(next.manner)) return this.#ask()
    if (next.isOfWork && this.body.needsMark(this.wire.textOf(next.command) ?? '')) return this.#mark()
    this.#waiting.shift()
    const refusal = this.#refusalOf(next)
    if (refusal === undefined) return this.#start(next)
    this.wire.refuse(next.command, refusal)
    this.#next()
  }

  #refusalOf({ command, manner, isOfWork }: Waiting<Command>): TransactionBody['end'] {
    const { body, wire } = this
    const text = wire.textOf(command) ?? ''
    if (isOfWork) return body.refusal(text, wire.paramsOf(command))
    if (manner === 'free') return undefined
    if (body.end === undefined && manner !== 'commit') body.ear?.sent(text, wire.paramsOf(command))
    return body.end
  }

  /** What is told of a command does not lead to it, so that it keeps none of them, nor their answers, alive. */
  #start({ command, isOfWork }: Waiting<Command>): void {
    this.#running = command
    const turn = (this.#turn += 1)
    let error: Error | undefined
    this.wire.watch(command, {
      failed: (why) => {
        error ??= why
        if (isOfWork || !this.#saysGone(why)) this.body.failed(why, isOfWork)
        // the drivers' word for a connection that has ended, after which one of them ends no command
        if ((why as { readonly fatal?: boolean }).fatal === true) this.#end(why)
      },
      answered: (answer) => {
        if (isOfWork) this.#look(answer)
      },
      ended: () => {
        if (this.#running === undefined || this.#turn !== turn) return
        this.#running = undefined
        if (error === undefined && isOfWork) this.body.succeeded()
        else if (error === undefined) this.body.ear?.answered()
        this.#next()
      },
    })
    this.wire.add(command)
  }

  /** The server says with its answers whether a transaction is open: here without being asked. */
  #look(answer: unknown): void {
    const status = this.wire.statusOf(answer)
    if (status !== undefined) this.body.answered(isInTransaction(status))
  }

  get #question(): string {
    return this.body.isMarked ? takeMark : 'DO 0'
  }

  #saysGone(error: unknown): boolean {
    return this.body.isMarked && isMarkGone(error)
  }

  #ask(): void {
    this.#sendBetween(this.#question, (error, answer) => {
      if (error == null) this.body.told(isInTransaction(this.wire.statusOf(answer)))
      else if (this.#saysGone(error)) this.body.told(false)
      else this.drop(error)
    })
  }

  #mark(): void {
    this.#sendBetween(setMark, (error) => {
      if (error == null) this.body.isMarked = true
      else this.drop(error)
    })
  }

  /** Before the one that is to be sent next. */
  #sendBetween(text: string, answered: Callback): void {
    this.#isAsking = true
    const isLent = this.#isLent
    this.#isLent = false
    this.wire.query(text, (error, answer) => {
      this.#isAsking = false
      answered(error, answer)
      this.#next()
    })
    this.#isLent = isLent
  }
}
