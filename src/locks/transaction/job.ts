import { deadlineIn, type Deadline } from '../../core/deadline.ts'
import { graceMs } from '../../core/grace.ts'
import type { Wait } from '../../core/request.ts'
import type { Dialect } from '../../dialects/dialect.ts'
import type { TransactionEvent } from '../../events/shapes.ts'
import type { LimitTerms } from '../limit.ts'
import type { Opening } from '../named/opening.ts'
import type { OpeningLimits } from '../open-session.ts'
import type { Port } from '../port.ts'
import type { PlanTable, TableOpening } from '../table/port.ts'
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
  /** Plans the lock on a table. */
  readonly planTable: PlanTable
  /** The tables that it locks as it begins. */
  readonly tables?: TableOpening
  /** What those are told who listen, if somebody does. */
  readonly event?: TransactionEvent
}

/** Where BEGIN takes the lock, the wait for it is the wait for the named lock, and for the tables, as well. */
export function beginDeadline<Tx, T>(job: Job<Tx, T>): Deadline {
  const {
    opening,
    tables,
    options: { lockTimeoutMs },
  } = job
  if (opening?.lock.wait === 'nowait' || tables?.wait === 'nowait') return deadlineIn(0)
  const remainingMs = Math.min(
    opening?.deadline.remainingMs() ?? Infinity,
    tables?.deadline.remainingMs() ?? Infinity,
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
