import { checkDuration, onlyKnown } from '../core/check-field.ts'
import { performance } from '../core/clock.ts'
import { LockUsageError } from '../core/errors.ts'
import { objectTo } from '../events/objection.ts'
import { note } from '../events/note.ts'
import type { LockEvent, RetryEvent, StatementEvent, TransactionEvent } from '../events/shapes.ts'
import { DatabaseTime } from './database-time.ts'
import { messageOf, type HoldReport } from './hold-report.ts'
import { listenTo, type Watch } from './listen.ts'
import { OwnLocks } from './own-locks.ts'
import { Places } from './places.ts'
import { endsTransaction } from './statement-end.ts'
import { tellSafely } from './tell-safely.ts'
import { waitersFor, type Inspecting } from './waiters.ts'

/** How long a transaction may hold its locks, and what is done with one that holds them longer. */
export interface GuardOptions {
  /** From here on it is suspect. @default 100 */
  readonly suspectMs?: number | 'off'
  /** From here on it is broken. @default 1000 */
  readonly brokenMs?: number | 'off'
  /**
   * `warn`: a warning of the process. `throw`: one that is broken rejects, and is rolled back unless it has committed
   * by then; for tests. A function is given each report. @default 'warn'
   */
  readonly onHold?: 'warn' | 'throw' | ((report: HoldReport) => void)
  /** Asked how many others wait, on a connection more. @default nobody is asked */
  readonly locks?: Inspecting
}

type Level = HoldReport['level']

/**
 * Tells of transactions of this process that hold a lock for too long: when the limit passes, and again when the lock
 * has ended. Session locks and leases are meant to be held, and are not watched.
 *
 * @example
 * const guard = guardHolds({ brokenMs: 500 })
 * // here the application runs
 * guard.stop()
 */
export function guardHolds(options: GuardOptions = {}): Watch {
  const guard = new Guard(checked(options))
  const stop = listenTo({
    'tracing:holdfast:transaction:start': (event: TransactionEvent) => guard.places.note(event),
    'tracing:holdfast:transaction:asyncEnd': (event: TransactionEvent) => guard.over(event),
    'holdfast:transaction:retry': ({ transaction }: RetryEvent) => guard.over(transaction),
    'tracing:holdfast:lock:start': (event: LockEvent) => guard.asked(event),
    'tracing:holdfast:lock:asyncEnd': (event: LockEvent) => guard.granted(event),
    'holdfast:lock:ended': (event: LockEvent) => guard.ended(event),
    'tracing:holdfast:statement:start': (event: StatementEvent) => guard.sent(event),
    'tracing:holdfast:statement:asyncEnd': (event: StatementEvent) => guard.answered(event),
  })
  return {
    stop: () => {
      stop()
      guard.forget()
    },
  }
}

interface Limit {
  readonly level: Level
  readonly ms: number
}

interface Terms {
  /** The shortest first. */
  readonly limits: readonly Limit[]
  readonly onHold: NonNullable<GuardOptions['onHold']>
  readonly locks: Inspecting | undefined
}

function checked(options: GuardOptions): Terms {
  onlyKnown(options, ['suspectMs', 'brokenMs', 'onHold', 'locks'])
  const { suspectMs = 100, brokenMs = 1000, onHold = 'warn', locks } = options
  if (typeof onHold !== 'function' && onHold !== 'warn' && onHold !== 'throw')
    throw new LockUsageError('onHold', "is 'warn', 'throw' or a function")
  if (locks !== undefined && typeof (locks as Partial<Inspecting> | null)?.inspect !== 'function')
    throw new LockUsageError('locks', 'has no inspect: pass what createLocks gives')
  const limits = [limitOf('suspect', suspectMs), limitOf('broken', brokenMs)].filter((it) => it !== undefined)
  return { limits: limits.toSorted((a, b) => a.ms - b.ms), onHold, locks }
}

function limitOf(level: Level, ms: number | 'off'): Limit | undefined {
  return ms === 'off' ? undefined : { level, ms: checkDuration(`${level}Ms`, ms) }
}

interface Hold {
  readonly since: number
  /** How long the transaction had been in the database by then. */
  readonly spentMs: number
  readonly attempt: number
  readonly timers: readonly NodeJS.Timeout[]
}

type Seen = Pick<HoldReport, 'level' | 'isHeld' | 'lock' | 'heldMs'>

class Guard {
  readonly places = new Places()
  readonly #own = new OwnLocks(this.places)
  readonly #time = new DatabaseTime()
  readonly #terms: Terms
  readonly #holds = new Map<LockEvent, Hold>()
  /** The lock by which an attempt of a transaction is judged: the first that it was granted. */
  readonly #judged = new WeakMap<TransactionEvent, { readonly attempt: number; readonly lock: LockEvent }>()

  constructor(terms: Terms) {
    this.#terms = terms
  }

  asked(lock: LockEvent): void {
    this.places.note(lock)
    this.#own.calls.start(lock)
  }

  sent(statement: StatementEvent): void {
    this.#time.started(statement)
    if (!this.#isJudged(statement.transaction)) this.#own.starts(statement)
  }

  answered(statement: StatementEvent): void {
    this.#time.ended(statement)
    const taken = this.#own.taken(statement)
    if (taken !== undefined) this.granted(taken)
    if (endsTransaction(statement)) this.over(statement.transaction)
  }

  /** A transaction, or an attempt of one, has ended. */
  over(transaction: TransactionEvent | undefined): void {
    const lock = this.#own.ended(transaction)
    const hold = lock && this.#holds.get(lock)
    if (lock === undefined || hold === undefined) return
    note(lock, { heldMs: performance.now() - hold.since })
    this.ended(lock)
  }

  #isJudged(transaction: TransactionEvent | undefined): boolean {
    const judged = transaction && this.#judged.get(transaction)
    return judged?.attempt === transaction?.attempts && judged !== undefined && this.#holds.has(judged.lock)
  }

  granted(lock: LockEvent): void {
    this.#own.calls.end(lock)
    const { transaction, outcome } = lock
    if (outcome !== 'granted' || transaction === undefined || this.#isJudged(transaction)) return
    const attempt = transaction.attempts
    this.#judged.set(transaction, { attempt, lock })
    const timers = this.#terms.limits.map(({ level, ms }) =>
      setTimeout(() => this.#passed(lock, level), ms).unref(),
    )
    const spentMs = this.#time.spentMs(transaction) ?? 0
    this.#holds.set(lock, { since: performance.now(), spentMs, attempt, timers })
  }

  ended(lock: LockEvent): void {
    const hold = this.#holds.get(lock)
    if (hold === undefined) return
    this.#holds.delete(lock)
    for (const timer of hold.timers) clearTimeout(timer)
    const { heldMs = 0 } = lock
    const limit = this.#terms.limits.findLast(({ ms }) => heldMs > ms)
    if (limit !== undefined) void this.#tell({ level: limit.level, isHeld: false, lock, heldMs }, hold)
  }

  forget(): void {
    for (const { timers } of this.#holds.values()) for (const timer of timers) clearTimeout(timer)
    this.#holds.clear()
  }

  #passed(lock: LockEvent, level: Level): void {
    const hold = this.#holds.get(lock)
    if (hold === undefined) return
    void this.#tell({ level, isHeld: true, lock, heldMs: performance.now() - hold.since }, hold)
  }

  async #tell(seen: Seen, hold: Hold): Promise<void> {
    const { onHold, locks } = this.#terms
    const { level, isHeld, lock } = seen
    const { transaction } = lock
    const spentMs = this.#time.spentMs(transaction)
    const known = {
      ...seen,
      place: this.places.of(lock) ?? this.places.of(transaction),
      databaseMs: spentMs === undefined ? undefined : spentMs - hold.spentMs,
      statement: this.#time.lastText(transaction),
    }
    if (onHold === 'throw' && level === 'broken' && transaction !== undefined)
      return objectTo(transaction, objection({ ...known, waiters: undefined }))
    const waiters = locks === undefined || !isHeld ? undefined : await waitersFor(locks, lock)
    // it has ended while others were asked, and that is told; or nobody wants to hear any more
    if (isHeld && !this.#holds.has(lock)) return
    const report = { ...known, waiters, message: messageOf({ ...known, waiters }) }
    if (typeof onHold === 'function') tellSafely('onHold', onHold, report)
    else process.emitWarning(report.message, 'HoldfastWarning', `HOLDFAST_HELD_${level.toUpperCase()}`)
  }
}

function objection(report: Omit<HoldReport, 'message'>): (isStored: boolean) => Error {
  return (isStored) => new LockUsageError('guard', messageOf(report), { isStored })
}
