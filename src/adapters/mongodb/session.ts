import { setImmediate as nextRound } from 'node:timers/promises'
import { deadlineIn } from '../../core/deadline.ts'
import type { Session, TransactionStart, Witness } from '../../core/session.ts'
import type { DocumentCommand, Row, Statement } from '../../core/statement.ts'
import {
  majority,
  type MongodbClient,
  type MongodbDatabase,
  type MongodbSession,
  type MongodbTransaction,
} from './driver.ts'
import { followed } from './followed.ts'
import { LentSession } from './lent.ts'
import { begunTwice, isLoss, isOfDriverOnly, miscounted, rowsOf, unanswered } from './reply.ts'
import { endsIn, Traffic, transactionLifeMs } from './traffic.ts'
import type { Trust } from './trust.ts'
import { commandOnly } from '../statement-kind.ts'
import { firstFailure, nothingToCommit } from '../transaction-end.ts'
import { withinSnapshot, withoutHead, withoutMode, withoutReadOnly } from '../transaction-start.ts'

/** How long an answer is waited for by somebody who only wants the transaction to end. */
const graceMs = 2000

/** A command that only asks the server to answer. */
const asking = { command: { find: '_leases', filter: { _id: '' }, limit: 1, singleBatch: true } }

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
  readonly trust: Trust
}

/** A logical session of the server, on whatever connections the driver takes for it. */
export class OneSession<S extends MongodbSession, D extends MongodbDatabase<S>> implements Session<
  MongodbTransaction<S, D>
> {
  tx: MongodbTransaction<S, D>
  /** Of the work's operations the session is asked, but not told how they end. */
  readonly witness: Witness = { failures: [], isLoss }
  readonly #source: Source<S, D>
  readonly #session: S
  readonly #db: D
  readonly #failure = firstFailure()
  readonly #traffic = new Traffic()
  #lent: LentSession<S>
  /** Whether the work's operations are followed one by one, because they cannot be counted by its session. */
  #isFollowed = false
  /** From the beginning of a transaction until its end is known, what is run is a part of it. */
  #isOpen = false
  #isCommitSent = false
  /** How many operations had ended without an answer when the work returned. */
  #unansweredBefore: number | undefined
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
    const { habits, trust } = this.#source
    this.#failure.forget()
    this.#traffic.begin()
    this.#session.startTransaction(majority)
    this.#isOpen = true
    this.#isCommitSent = false
    this.#unansweredBefore = undefined
    this.#lend()
    if (trust.isKept && !habits.beginsAlone) return [] // the first operation begins it
    const rows = await this.run(asking)
    if (trust.isLost) this.#lend()
    return rows
  }

  untilIdle = (): Promise<void> | undefined => {
    this.#unansweredBefore ??= Math.max(0, this.#traffic.unanswered)
    return this.#traffic.isBusy && !this.#isMiscounted ? this.#untilNoTraffic() : undefined
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
    if (this.#isMiscounted || !(await this.#traffic.isOverIn(graceMs))) throw unanswered()
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

  async #untilNoTraffic(): Promise<void> {
    const deadline = deadlineIn(transactionLifeMs)
    while (this.#traffic.isBusy && (await this.#traffic.isOverIn(deadline.remainingMs()))) {
      await nextRound() // who has heard the answer may go on
    }
  }

  /** Waits for what the work has left under way, and lets nothing more through. */
  async #settle(): Promise<void> {
    if (this.#isMiscounted) throw miscounted()
    await this.untilIdle()
    this.#lent.end()
    this.#learn()
    if (this.#lent.misuse !== undefined) throw this.#lent.misuse
    if (this.#isMiscounted) throw miscounted()
    const isLost =
      this.#traffic.isBusy || this.#traffic.unanswered > (this.#unansweredBefore ?? 0) || this.#isDirty
    if (isLost) throw unanswered()
    if (this.#traffic.hasRacedToBegin) throw begunTwice()
    // The server has ended it and would say so with a label that asks for another try, however often it is tried.
    if (this.#failure.error !== undefined) throw nothingToCommit(this.#failure.error)
    if (this.#isFollowed) await this.#hearTheRest()
  }

  /**
   * The server answers the operations of a session one after the other. What has reached it through another `Db` is
   * answered before this command is, and has asked the session by then.
   */
  async #hearTheRest(): Promise<void> {
    await this.run(asking)
    await nextRound()
    if (this.#lent.isAskedLate) throw unanswered()
  }

  #learn(): void {
    if (this.#traffic.hasRacedToBegin) this.#source.habits.beginsAlone = true
    if (this.#traffic.isMiscounted) this.#source.trust.lose()
  }

  /** What the work receives, for one transaction. */
  #lend(): void {
    this.#isFollowed = this.#source.trust.isLost
    if (this.#isFollowed) this.#traffic.startOver()
    this.#lent = new LentSession(this.#session, this.#isFollowed ? undefined : this.#traffic)
    const follow = (operation: Promise<unknown>): Promise<unknown> => this.#traffic.follow(operation)
    this.tx = {
      session: this.#lent.session,
      db: this.#isFollowed ? followed(this.#db, follow) : this.#db,
    }
  }

  /** Whether it has turned out that nobody knows what is under way in this transaction. */
  get #isMiscounted(): boolean {
    return this.#source.trust.isLost && !this.#isFollowed
  }

  /** Whether an operation was lost with its connection. */
  get #isDirty(): boolean {
    return this.#session.serverSession?.isDirty === true
  }

  async #send({ command, database }: DocumentCommand): Promise<readonly Row[]> {
    if (this.#isDestroyed) throw new Error('the session was destroyed')
    const db = database === undefined ? this.#db : this.#source.client.db(database)
    if (!this.#isOpen || this.#isFollowed) return rowsOf(db, command, this.#session)
    try {
      return await this.#source.trust.check(this.#lent.session, (session) => rowsOf(db, command, session))
    } finally {
      if (this.#isMiscounted) this.#traffic.startOver() // nobody waits for what is not known
    }
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

function checkStart(start: TransactionStart): void {
  withoutMode(start)
  withoutHead(start)
  withoutReadOnly(start)
  withinSnapshot(start)
}
