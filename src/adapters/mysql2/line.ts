import { setImmediate as nextRound } from 'node:timers/promises'

import { refuse, takesSeveral, textOf, type Command, type CoreConnection } from './command.ts'
import { isInTransaction } from './server-status.ts'
import { Streams } from './streams.ts'
import { fateWords } from './words.ts'
import { fateBy } from '../statement-fate.ts'
import { TransactionBody, type Manner } from '../transaction-body.ts'
import { leftOpen } from '../transaction-end.ts'

const [anyFate, oneFate] = [fateBy(fateWords), fateBy(fateWords, true)]

interface Waiting {
  readonly command: Command
  readonly manner: Manner
  readonly isOfWork: boolean
}

const lines = new WeakMap<CoreConnection, Line>()

export function lineOf(core: CoreConnection): Line {
  const line = lines.get(core) ?? new Line(core)
  lines.set(core, line)
  return line
}

/**
 * The statements of one connection, in the order in which they were given. `mysql2` sends the next one when the former
 * has been answered, and so does this; but it looks at the answer before: a deadlock ends the transaction, and what the
 * driver has in its own queue behind it would be stored on its own.
 */
export class Line {
  readonly body: TransactionBody
  readonly #core: CoreConnection
  readonly #add: (command: Command) => Command
  #isLent = false
  #isAsking = false
  /** How the command that is being added is to be treated, when it is one of our own. */
  #manner: Manner | undefined
  #running: Waiting | undefined
  #waiting: Waiting[] = []
  #onIdle: (() => void) | undefined
  #streams: Streams | undefined

  constructor(core: CoreConnection) {
    this.#core = core
    const fateOf = takesSeveral(core) ? anyFate : oneFate
    this.body = new TransactionBody({ fateOf, isEndedByErrors: true })
    const add = core.addCommand.bind(core)
    // for the life of the connection: the driver itself replaces the method when the connection has ended
    const own = (command: Command): Command => this.#take(command)
    core.addCommand = own
    this.#add = (command) => (core.addCommand === own ? add(command) : core.addCommand(command))
  }

  lend(): void {
    this.#isLent = true
  }

  begin(): void {
    this.body.begin()
    this.#streams = undefined
  }

  giveBack(): void {
    this.#isLent = false
    this.body.over()
  }

  /** A statement of our own, behind all that was given before. */
  send(query: unknown, manner: Manner): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#manner = manner
      this.#core.query(query, (error, answer) => (error == null ? resolve(answer) : reject(error)))
      this.#manner = undefined
    })
  }

  /** Asks whether the transaction is there, behind all that was given before. */
  async ask(): Promise<void> {
    this.body.told(isInTransaction(await this.send('DO 0', 'free')))
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
    for (const { command } of dropped) refuse(command, why)
  }

  /** For a connection that was ended by the client: the driver leaves what runs on it without an answer. */
  cancel(why: Error): void {
    const running = this.#running
    this.#running = undefined
    if (running !== undefined) refuse(running.command, why)
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
    const isOfWork = manner === undefined
    if (!this.#isLent) return this.#add(command)
    const kind = textOf(command) === undefined ? command.constructor.name : undefined
    if (kind === 'CloseStatement' && this.body.isOpen) return this.#takeClosing(command)
    if (kind !== undefined && kind !== 'Ping') {
      // A pool that says goodbye, or what makes the session new, and ends the transaction. The driver takes nothing
      // more behind a goodbye, so it cannot wait here.
      if (this.body.isOpen) this.body.isInDoubt = true
      return this.#add(command)
    }
    const closed = isOfWork ? this.body.closed : undefined
    if (closed !== undefined) return refuse(command, closed)
    if (isOfWork && command.onResult === undefined) this.#watchStream(command)
    this.#waiting.push({ command, manner: manner ?? 'checked', isOfWork })
    this.#next()
    return command
  }

  #watchStream(command: Command): void {
    this.#streams ??= new Streams(() => this.body.failed(leftOpen(), true))
    this.#streams.watch(command)
  }

  /** Behind the uses of the prepared statement. Nobody is told how it went. */
  #takeClosing(command: Command): Command {
    command.once('error', () => {})
    this.#waiting.push({ command, manner: 'free', isOfWork: false })
    this.#next()
    return command
  }

  #next(): void {
    if (this.#running !== undefined || this.#isAsking) return
    const [next] = this.#waiting
    if (next === undefined) return this.#onIdle?.()
    if (this.body.end === undefined && this.body.asksBefore(next.manner)) return this.#ask()
    this.#waiting.shift()
    const refusal = this.#refusalOf(next)
    if (refusal === undefined) return this.#start(next)
    refuse(next.command, refusal)
    this.#next()
  }

  #refusalOf({ command, manner, isOfWork }: Waiting): TransactionBody['end'] {
    if (isOfWork) return this.body.refusal(textOf(command) ?? '')
    return manner === 'free' ? undefined : this.body.end
  }

  #start(waiting: Waiting): void {
    const { command, isOfWork } = waiting
    this.#running = waiting
    let error: Error | undefined
    const fail = (why: Error): void => {
      error ??= why
      this.body.failed(why, isOfWork)
      // the driver's word for a connection that has ended, after which it ends no command
      if ((why as { readonly fatal?: boolean }).fatal === true) this.#end(why)
    }
    const answered = command.onResult
    if (answered === undefined) command.once('error', fail)
    else
      command.onResult = (why, ...rest) => {
        if (why != null) fail(why)
        else if (isOfWork) this.#look(rest[0])
        answered(why, ...rest)
      }
    command.once('end', () => {
      if (this.#running !== waiting) return
      this.#running = undefined
      if (error === undefined && isOfWork) this.body.succeeded()
      this.#next()
    })
    this.#add(command)
  }

  /** The server says with every answer without rows whether a transaction is open: here without being asked. */
  #look(answer: unknown): void {
    // of several answers, as those of a procedure, the last one counts
    const last: unknown = Array.isArray(answer) ? answer.at(-1) : answer
    if (last?.constructor?.name === 'ResultSetHeader') this.body.answered(isInTransaction(last))
  }

  #ask(): void {
    this.#isAsking = true
    const isLent = this.#isLent
    this.#isLent = false
    this.#core.query('DO 0', (error, answer) => {
      this.#isAsking = false
      if (error == null) this.body.told(isInTransaction(answer))
      else this.drop(error)
      this.#next()
    })
    this.#isLent = isLent
  }
}
