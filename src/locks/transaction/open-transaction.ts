import type { Deadline } from '../../core/deadline.ts'
import type { Session } from '../../core/session.ts'
import type { Dialect } from '../../dialects/dialect.ts'
import type { TransactionEvent } from '../../events/shapes.ts'
import type { LockLimit, OpenTransaction, Server } from '../port.ts'
import type { SessionEnd } from '../session-end.ts'
import type { TransactionOptions } from './options.ts'

/** Where a transaction is, and how its session ends. */
interface Place<Tx> extends Server {
  readonly session: Session<Tx>
  readonly ending: SessionEnd
}

interface OpenedBy {
  /** Until when BEGIN may wait. */
  readonly deadline: Deadline
  /** Until when the whole call may take. */
  readonly budget: Deadline | undefined
  readonly event: TransactionEvent | undefined
  readonly adapter: string | undefined
}

/** What is known of a transaction before it begins. */
export function openTransaction<Tx>(
  { dialect, version, session, ending }: Place<Tx>,
  options: TransactionOptions,
  { deadline, budget, event, adapter = 'custom' }: OpenedBy,
): OpenTransaction<Tx> {
  return {
    dialect,
    version,
    session,
    signal: options.signal,
    isolation: options.isolation,
    access: options.access ?? 'read-write',
    ...limitsOf(dialect, options, budget),
    deadline,
    doubt: ending.doubt,
    isInDoubt: ending.isInDoubt,
    giveUp: ending.giveUp,
    begun: undefined,
    named: new Map(),
    joined: undefined,
    unsure: undefined,
    tables: undefined,
    isConfined: false,
    locking: undefined,
    parts: undefined,
    refusals: undefined,
    late: undefined,
    doom: undefined,
    isAtWork: false,
    onLeave: [],
    isStored: false,
    onStored: undefined,
    event,
    adapter,
    statements: undefined,
    stories: undefined,
    storiesEnd: undefined,
    atEnd: [],
  }
}

/** The server is told what is left of the budget where that is less, and costs nothing. */
function limitsOf(
  { transaction }: Dialect,
  { lockTimeoutMs, budgetMs }: TransactionOptions,
  budget: Deadline | undefined,
): Pick<OpenTransaction<unknown>, 'lockTimeoutMs' | 'limit' | 'leftMs'> {
  const leftMs = Math.max(1, Math.ceil(budget?.remainingMs() ?? Infinity))
  const isFree = lockTimeoutMs !== undefined || transaction.lowerLockTimeout !== undefined
  const limit: LockLimit =
    isFree && leftMs < (lockTimeoutMs ?? Infinity)
      ? { ms: leftMs, budgetMs }
      : { ms: lockTimeoutMs, lockTimeoutMs }
  return { lockTimeoutMs, limit, leftMs }
}

/** It is stored, which those hear who wait for it. */
export function noteStored<Tx>(open: OpenTransaction<Tx>): void {
  open.isStored = true
  for (const tell of open.onStored ?? []) tell()
}
