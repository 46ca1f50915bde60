import type { Mutable } from '../../core/mutable.ts'
import type { TransactionStart } from '../../core/session.ts'
import type { Row, SqlStatement } from '../../core/statement.ts'
import type { LockTimeout } from '../../dialects/transaction.ts'
import { beginWaiting } from './begin.ts'
import {
  noteHeld,
  takeBeforeBegin,
  takeInside,
  theLock,
  type Opening,
  type PlannedOpening,
} from '../named/opening.ts'
import type { TransactionOptions } from './options.ts'
import type { OpenTransaction } from '../port.ts'
import { take } from '../take.ts'

/** How a transaction is to begin. */
export interface Start {
  readonly options: TransactionOptions
  readonly timeout: LockTimeout | undefined
  readonly opening: Opening | undefined
}

export interface Begun {
  /** What the last statement of the beginning gives. Not there yet where that travels with the work's first one. */
  readonly head: Row | undefined | Promise<Row | undefined>
  /** Takes the locks that belong inside of the transaction, where they have not come with BEGIN. */
  readonly takeLocks: () => Promise<void> | undefined
}

/** Takes the locks that come before the transaction, and begins it, with those that can travel along. */
export async function beginLocked(open: OpenTransaction<unknown>, start: Start): Promise<Begun> {
  const { opening } = start
  const began = performance.now()
  const taking = opening && takeBeforeBegin(open, opening)
  const locks = taking instanceof Promise ? await taking : taking
  const sent = begin(open, start, locks)
  const takeLocks = (): Promise<void> | undefined => {
    if (locks === undefined) return undefined
    return locks.head.length > 0 ? noteHeld(open, locks, began) : takeInside(open, locks, began)
  }
  if (open.session.ride === undefined) return { head: (await sent)[0], takeLocks }
  open.begun = sent
  const head = sent.then(([row]) => row)
  head.catch(() => {}) // whoever needs it hears of it
  return { head, takeLocks }
}

function begin(
  open: OpenTransaction<unknown>,
  start: Start,
  locks: PlannedOpening | undefined,
): Promise<readonly Row[]> {
  const { session, dialect, deadline, signal } = open
  const started = startOf(open, start, locks?.head ?? [])
  const send = (): Promise<readonly Row[]> =>
    session.ride?.(started) ??
    (started.mode === undefined
      ? session.begin(started)
      : beginWaiting(session, started, { dialect, deadline, signal }))
  const plan = locks?.plans[0]
  return plan !== undefined && locks !== undefined && locks.head.length > 0
    ? take(plan, { dialect, signal, what: theLock }, send)
    : send()
}

function startOf(
  { dialect, version, access }: OpenTransaction<unknown>,
  { options, timeout }: Start,
  locks: readonly SqlStatement[],
): TransactionStart {
  const { writeMode, commitProbe } = dialect.transaction
  const writes = access === 'read-write'
  const head: SqlStatement[] = []
  if (timeout !== undefined && 'head' in timeout) head.push(timeout.head)
  for (const lock of locks) head.push(lock)
  const probe = writes ? commitProbe?.(version) : undefined
  // behind the locks: a transaction that has its number holds up the server's cleaning
  const last = locks.at(-1)
  const both = last && probe?.inside?.(last)
  if (both !== undefined) head[head.length - 1] = both
  else if (probe !== undefined) head.push(probe.head)
  const start: Mutable<TransactionStart> = {}
  if (options.isolation !== undefined) start.isolation = options.isolation
  if (options.access !== undefined) start.access = access
  if (writes && writeMode !== undefined) start.mode = writeMode
  if (head.length > 0) start.head = head
  return start
}
