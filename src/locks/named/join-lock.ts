import { performance } from '../../core/clock.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { LockKey } from '../../core/key.ts'
import type { Plan } from '../../core/plan.ts'
import type { Receipt } from '../../core/receipt.ts'
import type { Isolation, Wait } from '../../core/request.ts'
import type { SavepointWatch } from '../../core/session.ts'
import { madeJustNow, namingHeld } from '../contention.ts'
import { isolationOf } from './default-isolation.ts'
import { noteJoined, watchReturns } from './given-up.ts'
import type { CheckedLock } from './lock-options.ts'
import { askedOf, type NamedKey } from './named-key.ts'
import {
  isWholeDatabase,
  sentFor,
  takeForConnection,
  takeForTransaction,
  type NamedLocking,
} from './opening.ts'
import type { OpenTransaction } from '../port.ts'
import { labelOf, limitedIn } from '../refused.ts'
import { receiptOf } from '../rows/rows.ts'
import { mustSeeTheLast } from '../sees-the-last.ts'
import { beforeItsEnd } from '../transaction/before-its-end.ts'
import { inTimeOf, lockInTime, oneAtATime } from '../transaction/one-at-a-time.ts'
import { tellInside } from '../transaction/lock-stories.ts'
import { partOf } from '../transaction/part.ts'
import { withSavepoint } from '../transaction/savepoint.ts'
import { planInTime } from './timed-plan.ts'

export interface JoinCall {
  readonly name: NamedKey
  readonly locking: NamedLocking
  readonly lock: CheckedLock
  readonly savepoint: boolean
}

/** Takes a named lock in a transaction that is under way, until that ends. */
export function joinLock(open: OpenTransaction<unknown>, call: JoinCall): Promise<Receipt> {
  const began = performance.now()
  const { name, lock } = call
  const join = (): Promise<Receipt> =>
    partOf(open, () => oneAtATime(open, () => joinNow(open, call))).catch((error: unknown) => {
      throw namingHeld(error, limitedIn(open, { ...askedOf([name], lock), began }))
    })
  // what the transaction has already is not taken again
  return open.named.has(name.id)
    ? join()
    : tellInside(open, () => ({ kind: 'named', key: name.key, ...lock }), join)
}

async function joinNow(open: OpenTransaction<unknown>, call: JoinCall): Promise<Receipt> {
  const { name, locking, lock, savepoint } = call
  const has = open.named.get(name.id)
  if (has !== undefined) return heldAlready(has, { ...lock, key: name.key })
  const { mode, wait, exact } = lock
  const isolation = open.isolation ?? (await isolationOf(open))
  const request = { key: name.key, mode, exact, ...(isolation && { isolation }) }
  const time = { wait, lockTimeoutMs: open.limit.ms, leftMs: Infinity }
  const [plan] = planInTime(open.dialect, time, (how) => [
    locking.planFor(open, { ...request, wait: how }, name.id),
  ]) as [Plan]
  checkJoinable(open, plan, isolation)
  await prepare(plan, wait, locking)
  const began = performance.now()
  const takeOnce = (): Promise<void> =>
    lockInTime(open, wait, () =>
      withSavepoint(open, { isAsked: savepoint }, () =>
        isOfConnection(plan)
          ? beforeItsEnd(open, () => takeForConnection(open, plan, locking))
          : takeForTransaction(open, plan, locking),
      ),
    )
  // what belongs to the connection, or came with BEGIN, outlasts a savepoint
  const savepoints = isOfConnection(plan) || isWholeDatabase(plan) ? undefined : watchReturns(open)
  await (savepoints === undefined ? takeOnce() : takeForGood(savepoints, takeOnce))
  const receipt = receiptOf(plan, lock, {
    statements: sentFor(plan),
    waitedMs: performance.now() - began,
  })
  open.named.set(name.id, receipt)
  if (savepoints !== undefined) noteJoined(open, name.id, savepoints)
  return receipt
}

function isOfConnection({ beforeBegin }: Plan): boolean {
  return beforeBegin.length > 0
}

/** Who goes back to a savepoint while the lock is taken may have given it up: to take it twice does no harm. */
async function takeForGood(savepoints: SavepointWatch, takeOnce: () => Promise<void>): Promise<void> {
  for (let returns = -1; returns !== savepoints.returns;) {
    returns = savepoints.returns
    await takeOnce()
  }
}

/** What a transaction holds, for somebody who asks for it again. Rejects where that is not meant, or would be less than asked. */
export function heldAlready(
  has: Receipt,
  { key, reentry, mode }: Pick<CheckedLock, 'reentry' | 'mode'> & { readonly key: LockKey },
): Receipt {
  if (reentry === 'refuse') {
    throw new LockUsageError(
      'key',
      `the transaction already holds the ${labelOf('lock', key)}: pass reentry: 'join' if that is intended`,
    )
  }
  if (mode === 'exclusive' && has.granted === 'shared')
    throw new LockUsageError(
      'mode',
      `the ${labelOf('lock', key)} is held as shared, which cannot become exclusive`,
    )
  return has
}

function checkJoinable(
  { dialect, access }: OpenTransaction<unknown>,
  plan: Plan,
  isolation: Isolation | undefined,
): void {
  if (access === 'read-only' && (isWholeDatabase(plan) || plan.needs.length > 0))
    throw new LockUsageError('access', 'a read-only transaction cannot take this lock on this database')
  const instead = 'use locks.withLock, which takes the lock before the transaction begins'
  mustSeeTheLast(dialect, isolation, { category: 'advisory', instead })
}

/** What was made just now may be invisible to this transaction: it is repeated. */
async function prepare(plan: Plan, wait: Wait, { needs }: NamedLocking): Promise<void> {
  if (isWholeDatabase(plan) || !(await inTimeOf(wait, needs.make(plan.needs)))) return
  throw madeJustNow('the row of the lock', plan.waiting.timeoutMs)
}
