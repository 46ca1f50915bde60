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
  /** What the last statement of the beginning gives. Not settled yet where that travels with the work's first one. */
  readonly head: Promise<Row | undefined>
  /** Takes the locks that belong inside of the transaction, where they have not come with BEGIN. */
  readonly takeLocks: () => Promise<void> | undefined
}

/** Takes the locks that come before the transaction, and begins it, with those that can travel along. */
export async function beginLocked(open: OpenTransaction<unknown>, start: Start): Promise<Begun> {
  const { opening, options, timeout } = start
  const began = performance.now()
  const locks = opening && (await takeBeforeBegin(open, opening))
  const head = begin(open, { options, timeout, locks })
  if (open.session.ride === undefined) await head
  else open.begun = head
  head.catch(() => {}) // whoever needs it hears of it
  const takeLocks = (): Promise<void> | undefined => {
    if (locks === undefined) return undefined
    return locks.head.length > 0 ? noteHeld(open, locks, began) : takeInside(open, locks, began)
  }
  return { head, takeLocks }
}

interface Beginning extends Pick<Start, 'options' | 'timeout'> {
  readonly locks: PlannedOpening | undefined
}

async function begin(
  open: OpenTransaction<unknown>,
  { options, timeout, locks }: Beginning,
): Promise<Row | undefined> {
  const { session, dialect, version, access, deadline, signal } = open
  const { writeMode, commitProbe } = dialect.transaction
  const writes = access === 'read-write'
  const head: SqlStatement[] = []
  if (timeout !== undefined && 'head' in timeout) head.push(timeout.head)
  if (locks !== undefined) head.push(...locks.head)
  // behind the locks: a transaction that has its number holds up the server's cleaning
  const probe = writes ? commitProbe?.(version)?.head : undefined
  if (probe !== undefined) head.push(probe)
  const start: TransactionStart = {
    ...(options.isolation && { isolation: options.isolation }),
    ...(options.access && { access }),
    ...(writes && writeMode !== undefined && { mode: writeMode }),
    ...(head.length > 0 && { head }),
  }
  const send = (): Promise<readonly Row[]> =>
    session.ride?.(start) ??
    (start.mode === undefined
      ? session.begin(start)
      : beginWaiting(session, start, { dialect, deadline, signal }))
  const [plan] = locks?.plans ?? []
  const isLocked = plan !== undefined && locks !== undefined && locks.head.length > 0
  const [row] = isLocked ? await take(plan, { dialect, signal, what: theLock }, send) : await send()
  return row
}
