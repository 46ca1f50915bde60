import { performance } from '../core/clock.ts'
import { CommitOutcomeUnknownError, LockUsageError } from '../core/errors.ts'
import type { StatementEar, StatementFailure, Witness } from '../core/session.ts'
import type { SqlStatement } from '../core/statement.ts'
import { noteFailure, noteText } from './note-failure.ts'
import { savepointSteps, type SavepointSteps } from './savepoint-steps.ts'
import { Savepoints } from './savepoints.ts'
import type { Spelling } from './sql-text.ts'
import { isPlain, type FateOf } from './statement-fate.ts'
import { floatingFailure, nothingToCommit } from './transaction-end.ts'

/** How a database and its driver end transactions. */
export interface BodyTraits {
  readonly fateOf: FateOf
  /** An error may end the transaction without a word, and what is sent next is then run, and stored, on its own. */
  readonly isEndedByErrors: boolean
  /** A return to a savepoint gives up the locks that were taken since: how texts tell of one. */
  readonly givesUpOnReturn?: Spelling
  /** Whether an error only says that another came before it. That becomes its cause: whoever reads it sees a conflict as one. */
  readonly isConsequence?: (error: unknown) => error is Error
}

/**
 * How a statement of our own is treated while the transaction may have ended. `checked`: not before a look whether it
 * is there, as are those of the work. A `read` stores nothing, so the look may come after it. `free` has nothing to do
 * with the transaction, or ends it.
 */
export type Manner = 'checked' | 'read' | 'free' | 'commit'

/** Settings that are put back, and locks on names and tables, belong to the session and not to the transaction. */
export function mannerOf({ sql, answers }: SqlStatement): Manner {
  if (answers !== undefined || sql.startsWith('SET ') || sql.startsWith('UNLOCK ')) return 'free'
  return sql.startsWith('SELECT ') ? 'read' : 'checked'
}

/** What the work's statements have made of their transaction. The next one is sent when the former has been answered. */
export class TransactionBody implements Witness {
  /** The database may have ended the transaction: an error, or what the work has sent, can have done it. */
  isInDoubt = false
  /** Several of the work's statements are under way at once: the last one need not be the one that fails. */
  isCrowded = false
  /** A savepoint was set before a statement that may end the transaction: it tells whether that is still the same one. */
  isMarked = false
  /** The text that the next failure comes of, where that is known. */
  failedText: string | undefined
  ear: StatementEar | undefined = undefined
  /** The first failures may have been got over: only its own error tells which one has ended the transaction. */
  #failed: WeakMap<object, StatementFailure> | undefined
  #sent: string[] | undefined
  #stage: 'none' | 'open' | 'returned' | 'ending' = 'none'
  /** The statement that runs may commit. */
  #isUnsure = false
  /** One that may commit was sent since the database was last known to have the transaction. */
  #mayHaveCommitted = false
  /** Since the database was last known to have the transaction: so the one that has ended it, if one has. */
  #failure: unknown
  #end: Ended | undefined
  #stored: Ended | undefined
  #failures: unknown[] | undefined
  #savepoints: Savepoints | undefined
  #isFollowed = false
  readonly #traits: BodyTraits

  constructor(traits: BodyTraits) {
    this.#traits = traits
  }

  get isOpen(): boolean {
    return this.#stage === 'open' || this.#stage === 'returned'
  }

  get failures(): readonly unknown[] {
    return this.#failures ?? []
  }

  failureOf(error: unknown): StatementFailure | undefined {
    return this.#failed?.get(error as object)
  }

  get ending(): unknown {
    return this.#failure ?? this.#end?.cause
  }

  get savepoints(): Savepoints | undefined {
    if (this.#traits.givesUpOnReturn !== undefined) this.#savepoints ??= new Savepoints()
    return this.#savepoints
  }

  /** `isFollowed`: the end of the transaction would be the beginning of another, so that one is open says nothing. */
  begin(isFollowed = false): void {
    this.#stage = 'open'
    this.#isFollowed = isFollowed
    this.isMarked = false
    this.#savepoints = undefined
    this.#failures = undefined
    this.#sent = undefined
    this.#failed = undefined
    this.failedText = undefined
    this.isCrowded = false
    this.isInDoubt = false
    this.#isUnsure = false
    this.#mayHaveCommitted = false
    this.#failure = undefined
    this.#end = undefined
    this.#stored = undefined
  }

  get hasReturned(): boolean {
    return this.#stage === 'returned'
  }

  /** The work has returned: what fails from now on, nobody waits for. What follows from it is still taken. */
  returned(): void {
    if (this.#stage === 'open') this.#stage = 'returned'
  }

  /** What the work has started still counts; nothing else is taken. */
  close(): void {
    if (this.isOpen) this.#stage = 'ending'
  }

  /** What it has started does not count either. */
  giveUp(): void {
    this.close()
    this.#end ??= hasEnded()
  }

  over(): void {
    this.#stage = 'none'
    this.#end = undefined
    this.isInDoubt = false
  }

  /** Why nothing more of the work is taken. */
  get closed(): Ended | undefined {
    return this.isOpen ? this.#end : hasEnded()
  }

  /** Why there is nothing to commit, or nothing that may be. */
  get end(): Ended | undefined {
    return this.#end
  }

  /** Why something of it is stored, or may be, whatever becomes of the rest. */
  get stored(): Ended | undefined {
    // nobody could ask
    if (this.#stored === undefined && this.asksBeforeRollback) return perhapsStored(this.#failure)
    return this.#stored
  }

  /** Told of a statement of the work before it is sent. Gives why it is not to be. */
  refusal(sql: string, params?: unknown): Ended | undefined {
    if (this.#stage === 'none') return hasEnded()
    if (this.#end !== undefined) return this.#end
    const fate = this.#traits.fateOf(sql)
    this.#isUnsure = fate === 'unsure'
    this.#mayHaveCommitted ||= this.#isUnsure
    if (typeof fate === 'object') return wouldEnd(fate.ends)
    this.sends(sql, params)
    return undefined
  }

  /** Whether a savepoint has to be set before such a text of the work. */
  needsMark(sql: string): boolean {
    const canHide = this.#isFollowed && this.#stage !== 'none' && this.#end === undefined && !this.isMarked
    return canHide && this.#traits.fateOf(sql) === 'unsure'
  }

  /** Told of a text that is about to be sent in the transaction. */
  sends(sql: string, params?: unknown): void {
    noteText((this.#sent ??= []), sql)
    this.ear?.sent(sql, params)
  }

  /** The same of a text of our own. Throws why it is not to be sent. */
  sendsOwn(sql: string, params?: unknown): void {
    if (this.#end !== undefined) throw this.#end
    if (this.isOpen) this.sends(sql, params)
  }

  /** What a text that is about to be sent does to savepoints. Absent where it does nothing to them, as nearly all. */
  announce(sql: string): SavepointSteps | undefined {
    const { givesUpOnReturn: spelling } = this.#traits
    if (spelling === undefined || isPlain(sql, false)) return undefined
    const steps = savepointSteps(sql, spelling)
    if (steps.every((step) => step === undefined)) return undefined
    this.savepoints?.announce(steps)
    return steps
  }

  /** `steps` where nobody else tells of them. */
  succeeded(steps?: SavepointSteps): void {
    this.ear?.answered()
    if (this.#stage === 'none') return
    if (steps !== undefined) this.savepoints?.didAll(steps)
    // where the database refuses everything after an error, it has the transaction again
    if (!this.#traits.isEndedByErrors) this.#failure = undefined
    if (this.#isUnsure) this.isInDoubt = true
    this.#isUnsure = false
  }

  failed(error: unknown, isOfWork: boolean, steps?: SavepointSteps): void {
    this.ear?.answered(error)
    if (this.#stage === 'none') return
    if (steps !== undefined) this.savepoints?.failed(steps)
    noteFailure((this.#failures ??= []), error)
    this.#noteFailed(error)
    this.#isUnsure = false
    const { isEndedByErrors } = this.#traits
    if (this.#failure !== undefined && this.#traits.isConsequence?.(error) === true)
      error.cause ??= this.#failure
    this.#failure = isEndedByErrors ? error : (this.#failure ?? error)
    if (isEndedByErrors) this.isInDoubt = true
    if (isOfWork && this.#stage !== 'open') this.#end ??= floatingFailure(error)
  }

  #noteFailed(error: unknown): void {
    const sent = [...(this.#sent ?? [])]
    const text = this.failedText ?? (this.isCrowded ? undefined : sent.at(-1))
    this.failedText = undefined
    if (typeof error !== 'object' || error === null || this.#failed?.has(error) === true) return
    this.#failed ??= new WeakMap()
    this.#failed.set(error, { at: performance.now(), text, sent })
  }

  /** Whether the database has to be asked before a rollback, which undoes nothing of what was committed before. */
  get asksBeforeRollback(): boolean {
    return this.#mayHaveCommitted && (this.isInDoubt || this.#isUnsure)
  }

  /** Whether the database has to be asked before such a statement is sent. */
  asksBefore(manner: Manner): boolean {
    if (manner === 'commit') return this.isInDoubt || this.#failure !== undefined
    return manner === 'checked' && this.isInDoubt
  }

  /** What the database said by itself, with its answer to a statement of the work that has succeeded. */
  answered(isThere: boolean): void {
    if (!isThere || (this.#isUnsure && !this.isMarked)) this.told(isThere)
  }

  /** What the database said when it was asked whether the transaction is there. */
  told(isThere: boolean): void {
    if (this.#stage === 'none') return // it has ended while the question was under way
    this.isInDoubt = false
    this.isMarked = false
    if (!isThere) this.#hasGone()
    this.#failure = undefined
    this.#isUnsure = false
    this.#mayHaveCommitted = false
  }

  #hasGone(): void {
    if (this.#mayHaveCommitted) this.#stored ??= perhapsStored(this.#failure)
    else if (this.#failure === undefined) this.#stored ??= endedByWork()
    this.#end ??= this.#stored ?? nothingToCommit(this.#failure)
  }
}

/** Why there is no transaction any more. */
type Ended = LockUsageError | CommitOutcomeUnknownError

export function hasEnded(): LockUsageError {
  return new LockUsageError('tx', 'the transaction has ended')
}

/** For an adapter that needs to know no more of a text. */
export function refuseEnding(fateOf: FateOf, sql: unknown): void {
  const fate = typeof sql === 'string' ? fateOf(sql) : 'keeps'
  if (typeof fate === 'object') throw wouldEnd(fate.ends)
}

function wouldEnd(statement: string): LockUsageError {
  const words = statement.split(' ', 2).join(' ').toUpperCase()
  return new LockUsageError(
    'tx',
    `${words} would end the transaction, or its locks, before the work is done: return to commit, throw to roll back`,
  )
}

function endedByWork(): LockUsageError {
  return new LockUsageError(
    'transaction',
    'a statement of the work has ended it, as COMMIT and DDL do: what came before is stored, and its locks were gone from there on',
    { isStored: true },
  )
}

/**
 * A procedure may have committed or rolled back, and a deadlock inside of one undoes everything unless it has committed
 * before: the server says no more than that the transaction is gone.
 */
function perhapsStored(cause: unknown): CommitOutcomeUnknownError {
  return new CommitOutcomeUnknownError(
    'a statement that can commit or roll back, such as CALL, has ended the transaction: what came before may or may not be stored. Check before you retry',
    cause === undefined ? {} : { cause },
  )
}
