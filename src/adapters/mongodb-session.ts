import { setImmediate as nextRound } from 'node:timers/promises'
import { deadlineIn } from '../core/deadline.ts'
import type { Session, TransactionStart } from '../core/session.ts'
import type { DocumentCommand, Row, Statement } from '../core/statement.ts'
import {
  majority,
  type MongodbClient,
  type MongodbDatabase,
  type MongodbSession,
  type MongodbTransaction,
} from './mongodb-driver.ts'
import { LentSession } from './mongodb-lent.ts'
import { begunTwice, isOfDriverOnly, unanswered, writeErrorIn } from './mongodb-reply.ts'
import { endsIn, Traffic } from './mongodb-traffic.ts'
import { commandOnly } from './statement-kind.ts'
import { firstFailure, nothingToCommit } from './transaction-end.ts'
import { withinSnapshot, withoutHead, withoutMode, withoutReadOnly } from './transaction-start.ts'

/** How long an answer is waited for by somebody who only wants the transaction to end. */
const graceMs = 2000

/** How long COMMIT waits for what the work has left under way: the server gives no transaction more, unless told. */
const transactionLifeMs = 60_000

/** What the sessions of one client have learned from one another. */
export interface Habits {
  /** Whether transactions are begun on the server before the work runs, because some work starts several operations. */
  beginsAlone: boolean
}

/** Where one session comes from. */
export interface Source<S, D> {
  readonly client: MongodbClient<S, D>
  readonly database: string | undefined
  readonly habits: Habits
}

/** A logical session of the server, on whatever connections the driver takes for it. */
export class OneSession<S extends MongodbSession, D extends MongodbDatabase<S>> implements Session<
  MongodbTransaction<S, D>
> {
  tx: MongodbTransaction<S, D>
  readonly #source: Source<S, D>
  readonly #session: S
  readonly #db: D
  readonly #failure = firstFailure()
  readonly #traffic = new Traffic()
  #lent: LentSession<S>
  /** From the beginning of a transaction until its end is known, what is run is a part of it. */
  #isOpen = false
  #isCommitSent = false
  #isDestroyed = false

  constructor(source: Source<S, D>) {
    this.#source = source
    this.#session = source.client.startSession()
    this.#db = source.client.db(source.database)
    this.#lent = new LentSession(this.#session, this.#traffic)
    this.tx = { session: this.#lent.session, db: this.#db }
  }

  run = async (statement: Statement): Promise<readonly Row[]> => {
    try {
      return await this.#traffic.add(() => this.#send(commandOnly(statement)))
    } catch (error) {
      if (!isOfDriverOnly(error)) this.#failure.note(error)
      throw error
    }
  }

  begin = async (start: TransactionStart = {}): Promise<readonly Row[]> => {
    checkStart(start)
    this.#failure.forget()
    this.#traffic.begin()
    this.#lent = new LentSession(this.#session, this.#traffic)
    this.tx = { session: this.#lent.session, db: this.#db }
    this.#session.startTransaction(majority)
    this.#isOpen = true
    this.#isCommitSent = false
    if (!this.#source.habits.beginsAlone) return [] // the first operation begins it
    return this.run({ command: { find: '_leases', filter: { _id: '' }, limit: 1, singleBatch: true } })
  }

  commit = async (): Promise<void> => {
    if (!this.#isCommitSent) await this.#settle()
    this.#isCommitSent = true
    await this.#session.commitTransaction()
    this.#isOpen = false
  }

  rollback = async (): Promise<void> => {
    this.#lent.end()
    this.#learn()
    if (!(await this.#traffic.isOverIn(graceMs))) throw unanswered()
    if (this.#session.inTransaction() && !(await endsIn(graceMs, this.#session.abortTransaction())))
      throw unanswered()
    // the driver says nothing of it, and the server may have the transaction still
    if (this.#isDirty) throw unanswered()
    this.#isOpen = false
  }

  release = (): Promise<void> => this.#session.endSession()

  destroy = async (): Promise<void> => {
    this.#isDestroyed = true
    this.#lent.end()
    const isHeard = await this.#kill()
    if (isHeard && this.#traffic.isBusy) {
      // a command that reaches the server after the first kill begins the transaction anew
      await this.#traffic.isOverIn(graceMs)
      await this.#kill()
    }
    const ended = this.#session.endSession().catch(() => {}) // it can only be forgotten
    if (isHeard) await endsIn(graceMs, ended)
  }

  /** Waits for what the work has left under way, and lets nothing more through. */
  async #settle(): Promise<void> {
    const deadline = deadlineIn(transactionLifeMs)
    const unansweredBefore = Math.max(0, this.#traffic.unanswered)
    while (this.#traffic.isBusy && (await this.#traffic.isOverIn(deadline.remainingMs()))) {
      await nextRound() // who has heard the answer may go on
    }
    this.#lent.end()
    this.#learn()
    if (this.#lent.misuse !== undefined) throw this.#lent.misuse
    const isLost = this.#traffic.isBusy || this.#traffic.unanswered > unansweredBefore || this.#isDirty
    if (isLost) throw unanswered()
    if (this.#traffic.hasRacedToBegin) throw begunTwice()
    // The server has ended it and would say so with a label that asks for another try, however often it is tried.
    if (this.#failure.error !== undefined) throw nothingToCommit(this.#failure.error)
  }

  #learn(): void {
    if (this.#traffic.hasRacedToBegin) this.#source.habits.beginsAlone = true
  }

  /** Whether an operation was lost with its connection. */
  get #isDirty(): boolean {
    return this.#session.serverSession?.isDirty === true
  }

  #send({ command, database }: DocumentCommand): Promise<readonly Row[]> {
    if (this.#isDestroyed) throw new Error('the session was destroyed')
    const db = database === undefined ? this.#db : this.#source.client.db(database)
    return send(db, command, this.#isOpen ? this.#lent.session : this.#session)
  }

  /**
   * Ends what runs in the session and its transaction; a connection belongs to no session. A server that cannot be
   * reached ends both when their time is over. Tells whether it has answered.
   */
  #kill(): Promise<boolean> {
    const command = { killSessions: [this.#session.id] }
    const killed = this.#source.client.db('admin').command(command)
    return endsIn(
      graceMs,
      killed.catch(() => {}),
    )
  }
}

/** The rows that a command answers with: documents where it finds some, otherwise the reply itself. */
async function send<S>(database: MongodbDatabase<S>, command: Row, session: S): Promise<readonly Row[]> {
  if ('find' in command || 'aggregate' in command)
    return database.runCursorCommand(command, { session }).toArray()
  const reply = await database.command(command, { session })
  const error = writeErrorIn(reply)
  if (error !== undefined) throw error
  if (!('findAndModify' in command)) return [reply]
  return reply.value === null || reply.value === undefined ? [] : [reply.value as Row]
}

function checkStart(start: TransactionStart): void {
  withoutMode(start)
  withoutHead(start)
  withoutReadOnly(start)
  withinSnapshot(start)
}
