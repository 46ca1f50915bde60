import { AsyncLocalStorage } from 'node:async_hooks'

import { LockUsageError, RetryableTransactionError } from '../../core/errors.ts'
import { UnsentCommit, type TransactionStart } from '../../core/session.ts'
import type { Row, SqlStatement } from '../../core/statement.ts'
import { unwrap } from '../../core/unwrap.ts'
import { Flight } from '../flight.ts'
import { hasEnded, TransactionBody, type Manner } from '../transaction-body.ts'
import { nothingToCommit } from '../transaction-end.ts'
import { sendInTurn, undoneOnError } from '../transaction-start.ts'
import { inTurn } from '../turn.ts'
import { held, type ForgeBegin, type HeldTransaction } from './client.ts'
import { levelNames, type LevelCheck } from './level.ts'
import { rawOn } from './raw.ts'
import { sendReadable } from './readable.ts'
import type { ForgeTraits } from './traits.ts'
import { viewOf } from './view.ts'

/** What the transactions of one client have in common. */
export interface ForgeGround {
  readonly client: object
  readonly traits: ForgeTraits
  readonly limits: ForgeBegin
  readonly levels: LevelCheck
  /** Whether an error says that the connection has broken. */
  readonly isLost: (error: unknown) => boolean
  /** Whether an error says anything at all of what the database, or the client, has done. */
  readonly isAnswered: (error: unknown) => boolean
  /** Whether an error says that others hold up what was asked for. */
  readonly isBusy: (error: unknown) => boolean
}

/** The transaction that has a call of the work under way, by the chain of calls: what it sends itself needs no turn. */
const underWay = new AsyncLocalStorage<ForgeTransaction>()

/** The transaction of a session, which the client begins and ends. */
export class ForgeTransaction {
  readonly body: TransactionBody
  /** For the work. */
  readonly view: object
  readonly #ground: ForgeGround
  readonly #flight = new Flight()
  #held: HeldTransaction | undefined
  /** Whether the client sends when it is called. Known before the work is, since statements of ours come first. */
  #isEager = true
  #isDestroyed = false

  constructor(ground: ForgeGround) {
    this.#ground = ground
    this.body = new TransactionBody(ground.traits.driver.body)
    this.view = viewOf({
      tx: () => this.#held?.tx,
      isEager: () => this.#isEager,
      call: (sql, call) => this.#callOfWork(sql ?? 'SELECT 1', call),
    })
  }

  get isHeld(): boolean {
    return this.#held !== undefined
  }

  async begin(start: TransactionStart = {}): Promise<readonly Row[]> {
    const { client, traits, limits, levels } = this.#ground
    const { isolation, access, head = [] } = start
    if (access !== undefined) throw noAccess()
    const first = traits.first(start)
    const level = isolation !== undefined && traits.hasLevels && { isolationLevel: levelNames[isolation] }
    const now = await held(client, { ...limits, ...level })
    if (this.#isDestroyed) {
      await now.rollback()
      throw hasEnded()
    }
    this.#held = now
    const begun = async (): Promise<readonly Row[]> => {
      for (const text of first) await this.#send(text)
      await levels.look(isolation, (sql) => this.#send(sql))
      if (traits.mark !== undefined) await this.#send(traits.mark)
      return (await sendInTurn(head, ({ sql, params }) => this.#send(sql, params))) ?? []
    }
    const rows = await undoneOnError(begun, () => this.#giveBack())
    this.body.begin()
    return rows
  }

  /** Runs a statement of our own. */
  run(statement: SqlStatement, manner: Manner): Promise<readonly Row[]> {
    return inTurn(this, () => this.#run(statement, manner))
  }

  async #run({ sql, params }: SqlStatement, manner: Manner): Promise<readonly Row[]> {
    const { body } = this
    if (manner === 'free') return this.#send(sql, params)
    if (body.end === undefined && body.asksBefore(manner)) await this.#ask()
    this.#mustBeThere()
    body.sends(sql, params)
    const rows = await this.#watch(false, sql, () => this.#send(sql, params))
    if (manner !== 'read' || !body.isInDoubt) return rows
    await this.#ask()
    this.#mustBeThere()
    return rows
  }

  #mustBeThere(): void {
    const { end } = this.body
    if (end !== undefined) throw end
  }

  untilIdle(): Promise<void> | undefined {
    this.body.returned()
    return this.#flight.untilNone()
  }

  /** The client calls a transaction committed that the database has rolled back: so the database is asked before. */
  async commit(): Promise<void> {
    const { body } = this
    body.close()
    await this.#flight.untilNone()
    if (body.end === undefined) await this.#prove()
    this.#mustBeThere()
    const now = this.#held
    this.#held = undefined
    await now?.commit().catch((error: unknown) => this.#commitFailed(error))
    body.over()
  }

  async rollback(): Promise<void> {
    const { body } = this
    body.giveUp()
    if (this.#held !== undefined && body.asksBeforeRollback) await this.#ask()
    await this.#giveBack()
    body.over()
  }

  async destroy(): Promise<void> {
    this.#isDestroyed = true
    this.body.giveUp()
    if (this.#held === undefined) return
    try {
      for (const text of this.#ground.traits.cleanUp) await this.#send(text).catch(() => {})
    } finally {
      await this.#giveBack()
    }
  }

  async #giveBack(): Promise<void> {
    const now = this.#held
    this.#held = undefined
    await now?.rollback()
  }

  async #send(sql: string, params: SqlStatement['params'] = []): Promise<readonly Row[]> {
    const { traits } = this.#ground
    if (this.#held === undefined) throw hasEnded()
    const raw = rawOn(this.#held.tx, (isEager) => {
      this.#isEager = isEager
    })
    return sendReadable(raw, { sql, params }, traits)
  }

  async #callOfWork(sql: string, call: () => PromiseLike<unknown>): Promise<unknown> {
    this.#flight.start()
    try {
      if (underWay.getStore() === this) return await this.#call(sql, call)
      // the client may send what it is given at once in any order
      return await inTurn(this, () => underWay.run(this, () => this.#call(sql, call)))
    } finally {
      this.#flight.land()
    }
  }

  async #call(sql: string, call: () => PromiseLike<unknown>): Promise<unknown> {
    const { body } = this
    if (body.closed === undefined && body.asksBefore('checked')) await this.#ask()
    const refusal = body.refusal(sql)
    if (refusal !== undefined) throw refusal
    return this.#watch(true, sql, call)
  }

  async #watch<T>(isOfWork: boolean, sql: string, call: () => PromiseLike<T>): Promise<T> {
    const steps = this.body.announce(sql)
    try {
      const answer = await call()
      this.body.succeeded(steps)
      return answer
    } catch (error) {
      this.body.failed(error, isOfWork, steps)
      throw error
    }
  }

  /** Asks whether the transaction is there, in the middle of it. */
  async #ask(): Promise<void> {
    const { mark } = this.#ground.traits
    await this.#prove()
    if (mark !== undefined && this.body.end === undefined) await this.#send(mark)
  }

  /** Sees to it that `body.end` says why there is nothing to commit, if there is not. */
  async #prove(): Promise<void> {
    const { traits, isLost } = this.#ground
    const { ending } = this.body
    try {
      await this.#send(traits.proof)
    } catch (error) {
      if (isLost(error)) throw new UnsentCommit(error)
      if (traits.mark === undefined || isGivenUp(error)) throw nothingToCommit(ending ?? error)
      this.body.told(false)
      return
    }
    this.body.told(true)
  }

  #commitFailed(error: unknown): never {
    const { isAnswered, isBusy } = this.#ground
    // the client has given it up: only the whole of it can be repeated
    if (isBusy(error))
      throw new RetryableTransactionError('busy', 'COMMIT was held up by others: run it again', {
        cause: error,
      })
    throw isAnswered(error) ? error : new UnansweredCommit(error)
  }
}

/** The client has rolled it back by itself, as Prisma does when its time is over. */
function isGivenUp(error: unknown): boolean {
  return unwrap(error).some(({ error: layer }) => layer.code === 'P2028')
}

/** The client says nothing that tells whether COMMIT was done: as if its connection had broken. */
class UnansweredCommit extends Error {
  override readonly name = 'UnansweredCommit'
  readonly code = 'ECONNABORTED'

  constructor(cause: unknown) {
    super('the client does not say what became of COMMIT', { cause })
  }
}

function noAccess(): LockUsageError {
  return new LockUsageError(
    'access',
    'the client cannot be told how a transaction accesses data: leave it out',
  )
}
