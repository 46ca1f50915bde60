import { deadlineIn, type Deadline } from '../../core/deadline.ts'
import { graceMs } from '../../core/grace.ts'
import type { Wait } from '../../core/request.ts'
import type { TransactionStart, WholeCourse } from '../../core/session.ts'
import type { Row } from '../../core/statement.ts'
import type { Dialect } from '../../dialects/dialect.ts'
import type { TransactionEvent } from '../../events/shapes.ts'
import type { LimitTerms } from '../limit.ts'
import type { Opening, PlannedOpening } from '../named/opening.ts'
import type { OpeningLimits } from '../open-session.ts'
import type { OpenTransaction, Port } from '../port.ts'
import type { PlanTable, TableOpening } from '../table/port.ts'
import type { CommitDoubt } from './commit.ts'
import type { TransactionOptions } from './options.ts'
import type { Scope } from './scope.ts'

/** What one attempt at a transaction needs. */
export interface Job<Tx, T> {
  readonly port: Port<Tx>
  readonly scope: Scope<Tx>
  readonly candidates: readonly Dialect[]
  readonly work: (tx: Tx) => Promise<T>
  readonly options: TransactionOptions
  /** Until when all of its attempts may take. */
  readonly budget?: Deadline
  /** Whether no attempt comes after it, whatever it fails with. */
  readonly isLast?: boolean
  /** The named locks that it takes as it begins. */
  readonly opening: Opening | undefined
  /** All that the work does, where that is known before it begins: the work does the same, one by one. */
  readonly whole?: Whole<T>
  /** Plans the lock on a table. */
  readonly planTable: PlanTable
  /** The tables that it locks as it begins. */
  readonly tables?: TableOpening
  /** What those are told who listen, if somebody does. */
  readonly event?: TransactionEvent
}

/**
 * Work of which every statement is known before its transaction begins. Who declares work brings this along: nobody else
 * needs to load it.
 */
export interface Whole<T> {
  /** Sends all of it. Undefined, and nothing is sent, where it has to be done one by one. */
  readonly send: (
    open: OpenTransaction<unknown>,
    beginning: WholeBeginning,
  ) => Promise<WholeCourse | undefined>
  /** Waits until it is stored, and gives what the work would have given. */
  readonly stored: <Tx>(open: OpenTransaction<Tx>, sent: SentWhole<Tx>) => Promise<T>
}

export interface WholeBeginning {
  /** Without the locks. */
  readonly start: TransactionStart
  readonly locks: PlannedOpening
}

/** A transaction that was sent as a whole, and what is needed to see what becomes of it. */
export interface SentWhole<Tx> {
  readonly course: WholeCourse
  /** Until when its locks have to be granted. */
  readonly locking: LimitTerms
  /** Told the row that came with the beginning, if it came. */
  readonly doubt: (head: Row | undefined) => CommitDoubt<Tx>
}

/** Where BEGIN takes the lock, the wait for it is the wait for the named lock, and for the tables, as well. */
export function beginDeadline<Tx, T>(job: Job<Tx, T>): Deadline {
  const {
    opening,
    tables,
    options: { lockTimeoutMs },
    budget,
  } = job
  if (opening?.lock.wait === 'nowait' || tables?.wait === 'nowait') return deadlineIn(0)
  const remainingMs = Math.min(
    opening?.deadline.remainingMs() ?? Infinity,
    tables?.deadline.remainingMs() ?? Infinity,
    budget?.remainingMs() ?? Infinity,
  )
  return deadlineIn(Math.min(remainingMs, lockTimeoutMs ?? Infinity))
}

/** A pool that never gives a connection would otherwise never be heard of: its last one may be the caller's own. */
const connectionPatienceMs = 60_000

export function patienceOf<Tx, T>({ opening, options: { signal }, budget }: Job<Tx, T>): OpeningLimits {
  const waitMs = Math.min(opening?.deadline.remainingMs() ?? Infinity, connectionPatienceMs)
  const budgetMs = budget?.remainingMs() ?? Infinity
  const isTimed = budgetMs < waitMs
  return { signal, patienceMs: Math.min(waitMs, budgetMs), purpose: 'for a transaction', isTimed }
}

/** Until when the beginning has to be answered. */
export function beginLimit<Tx, T>(job: Job<Tx, T>): LimitTerms {
  const {
    opening,
    tables,
    options: { signal },
    budget,
  } = job
  const waitMs = opening === undefined ? undefined : waitOf(opening.lock.wait, opening.deadline)
  const tablesMs = tables === undefined ? undefined : waitOf(tables.wait, tables.deadline)
  const bothMs = waitMs === undefined && tablesMs === undefined ? Infinity : (waitMs ?? 0) + (tablesMs ?? 0)
  return { signal, ms: Math.min(bothMs, budget?.remainingMs() ?? Infinity) + graceMs }
}

function waitOf(wait: Wait, deadline: Deadline): number {
  return wait === 'nowait' ? 0 : deadline.remainingMs()
}

/** Until when what the work has not waited for is waited for. */
export function idleLimit<Tx, T>({ options: { signal, budgetMs }, budget }: Job<Tx, T>): LimitTerms {
  const says = `the transaction was not over within its budgetMs of ${budgetMs}: what its work did not await went on`
  return { signal, ms: (budget?.remainingMs() ?? Infinity) + graceMs, says }
}

/** Until the caller wants no more: what COMMIT has done by then is asked about. Absent where the caller has no limit. */
export function commitLimit<Tx, T>({ options: { signal }, budget }: Job<Tx, T>): LimitTerms | undefined {
  if (signal === undefined && budget === undefined) return undefined
  return { signal, ms: (budget?.remainingMs() ?? Infinity) + graceMs, outlivesSignalMs: graceMs }
}
