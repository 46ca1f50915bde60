import { LockUsageError } from '../core/errors.ts'
import type { Witness } from '../core/session.ts'
import type { SqlStatement } from '../core/statement.ts'
import { noteFailure } from './note-failure.ts'
import { mayConcernSavepoints, Savepoints } from './savepoints.ts'
import type { FateOf } from './statement-fate.ts'
import { nothingToCommit } from './transaction-end.ts'

/** How a database and its driver end transactions. */
export interface BodyTraits {
  readonly fateOf: FateOf
  /** An error may end the transaction without a word, and what is sent next is then run, and stored, on its own. */
  readonly isEndedByErrors: boolean
  /** A return to a savepoint gives up the locks that were taken since. */
  readonly returnsGiveUpLocks?: boolean
}

/**
 * How a statement of our own is treated while the transaction may have ended. `checked`: not before a look whether it
 * is there, as are those of the work. A `read` stores nothing, so the look may come after it. `free` has nothing to do
 * with the transaction, or ends it.
 */
export type Manner = 'checked' | 'read' | 'free' | 'commit'

/** Settings that are put back, and named locks, belong to the session and not to the transaction. */
export function mannerOf({ sql, answers }: SqlStatement): Manner {
  if (answers !== undefined || sql.startsWith('SET ')) return 'free'
  return sql.startsWith('SELECT ') ? 'read' : 'checked'
}

/**
 * What the work's statements have made of their transaction. They come one at a time: the next one is sent when the
 * former has been answered.
 */
export class TransactionBody implements Witness {
  /** The database may have ended the transaction: an error, or what the work has sent, can have done it. */
  isInDoubt = false
  #stage: 'none' | 'open' | 'ending' = 'none'
  #isUnsure = false
  /** Since the database was last known to have the transaction: so the one that has ended it, if one has. */
  #failure: unknown
  #end: LockUsageError | undefined
  #failures: unknown[] | undefined
  #savepoints: Savepoints | undefined
  readonly #traits: BodyTraits

  constructor(traits: BodyTraits) {
    this.#traits = traits
  }

  get isOpen(): boolean {
    return this.#stage === 'open'
  }

  get failures(): readonly unknown[] {
    return this.#failures ?? []
  }

  get savepoints(): Savepoints | undefined {
    if (this.#traits.returnsGiveUpLocks === true) this.#savepoints ??= new Savepoints()
    return this.#savepoints
  }

  begin(): void {
    this.#stage = 'open'
    this.#savepoints = undefined
    this.#failures = undefined
    this.isInDoubt = false
    this.#isUnsure = false
    this.#failure = undefined
    this.#end = undefined
  }

  /** The work has returned or thrown. What it has started still counts; nothing else is taken. */
  close(): void {
    if (this.#stage === 'open') this.#stage = 'ending'
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
  get closed(): LockUsageError | undefined {
    return this.#stage === 'open' ? this.#end : hasEnded()
  }

  /** Why there is nothing to commit, or nothing that may be. */
  get end(): LockUsageError | undefined {
    return this.#end
  }

  /** Told of a statement of the work before it is sent. Gives why it is not to be. */
  refusal(sql: string): LockUsageError | undefined {
    if (this.#stage === 'none') return hasEnded()
    if (this.#end !== undefined) return this.#end
    const fate = this.#traits.fateOf(sql)
    this.#isUnsure = fate === 'unsure'
    if (fate === 'ends') return wouldEnd(sql)
    if (this.#traits.returnsGiveUpLocks === true && mayConcernSavepoints(sql)) this.savepoints?.read(sql)
    return undefined
  }

  succeeded(): void {
    if (this.#stage === 'none') return
    // where the database refuses everything after an error, it has the transaction again
    if (!this.#traits.isEndedByErrors) this.#failure = undefined
    if (this.#isUnsure) this.isInDoubt = true
    this.#isUnsure = false
  }

  failed(error: unknown, isOfWork: boolean): void {
    if (this.#stage === 'none') return
    noteFailure((this.#failures ??= []), error)
    this.#isUnsure = false
    const { isEndedByErrors } = this.#traits
    this.#failure = isEndedByErrors ? error : (this.#failure ?? error)
    if (isEndedByErrors) this.isInDoubt = true
    if (isOfWork && this.#stage === 'ending') this.#end ??= notAwaited(error)
  }

  /** Whether the database has to be asked before such a statement is sent. */
  asksBefore(manner: Manner): boolean {
    if (manner === 'commit') return this.isInDoubt || this.#failure !== undefined
    return manner === 'checked' && this.isInDoubt
  }

  /** What the database said when it was asked whether the transaction is there. */
  told(isThere: boolean): void {
    if (this.#stage === 'none') return // it has ended while the question was under way
    this.isInDoubt = false
    if (!isThere) this.#end ??= this.#failure === undefined ? endedByWork() : nothingToCommit(this.#failure)
    this.#failure = undefined
  }
}

export function hasEnded(): LockUsageError {
  return new LockUsageError('tx', 'the transaction has ended')
}

function wouldEnd(sql: string): LockUsageError {
  const words = sql.trim().split(/\s+/, 2).join(' ').slice(0, 40)
  return new LockUsageError(
    'tx',
    `${words} would end the transaction, and its locks with it, before the work is done: return to commit, throw to roll back`,
  )
}

/** The work has returned as if all were well. */
function notAwaited(error: unknown): LockUsageError {
  return new LockUsageError(
    'transaction',
    'a statement that the work did not wait for has failed: nothing is stored. Await every statement',
    { cause: error },
  )
}

function endedByWork(): LockUsageError {
  return new LockUsageError(
    'transaction',
    'a statement of the work has ended it, as COMMIT and DDL do: what came before is stored, and its locks were gone from there on',
  )
}
