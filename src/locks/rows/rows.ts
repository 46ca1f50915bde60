import { performance } from '../../core/clock.ts'
import { LockNotAvailableError, LockUsageError } from '../../core/errors.ts'
import type { Plan } from '../../core/plan.ts'
import type { Receipt } from '../../core/receipt.ts'
import type { RowRequest, TableName } from '../../core/request.ts'
import type { Row, Statement } from '../../core/statement.ts'
import { LockContention, madeJustNow, namingHeld } from '../contention.ts'
import type { Needs } from '../needs.ts'
import type { OpenTransaction } from '../port.ts'
import { labelOfRows, limitedIn, type Asked } from '../refused.ts'
import { beforeItsEnd } from '../transaction/before-its-end.ts'
import { inTimeOf, lockInTime, oneAtATime } from '../transaction/one-at-a-time.ts'
import { tellInside, type Told } from '../transaction/lock-stories.ts'
import { partOf } from '../transaction/part.ts'
import { withSavepoint } from '../transaction/savepoint.ts'
import { withSetting } from '../setting.ts'
import { sendLock, take } from '../take.ts'

/** How rows are locked. */
export interface RowOptions extends Omit<RowRequest, 'target' | 'isolation'> {
  /**
   * Leave the transaction usable when the lock is not granted, where an error would end it: with a savepoint.
   *
   * @default false
   */
  readonly savepoint?: boolean
}

/** The rows, and what was really taken for them. */
export type LockedRows<R> = readonly R[] & { readonly receipt: Receipt }

/** The statement that reads and locks; `run` sends it where that is not the session's own job. */
export interface LockingRead {
  readonly statement: Statement
  readonly run?: () => Promise<readonly Row[]>
  /** Makes ready that `run` sends it at once. Gives what is called where it is not run after all. */
  readonly ready?: () => Promise<(why: unknown) => void>
}

/** What a lock call needs besides the transaction. */
export interface RowCall {
  /** Where it is known. */
  readonly table?: TableName | undefined
  readonly plan: Plan
  readonly read: LockingRead
  readonly options: RowOptions
  readonly needs: Needs
}

/** Locks the rows of a query until the transaction ends, and reads them as they are once the lock is there. */
export function lockRows(open: OpenTransaction<unknown>, call: RowCall): Promise<LockedRows<Row>> {
  const lock = (): Promise<LockedRows<Row>> => partOf(open, () => lockNamed(open, call))
  return tellInside(open, () => toldOf(call), lock)
}

function toldOf({ table, options: { mode = 'exclusive', wait = 'block' } }: RowCall): Told {
  return { kind: 'rows', table, mode, wait }
}

function askedOf(open: OpenTransaction<unknown>, call: RowCall, began: number): Asked {
  const {
    table,
    options: { mode = 'exclusive', wait },
  } = call
  const asked = limitedIn(open, { label: labelOfRows(table), mode, wait, began })
  return table === undefined ? asked : { ...asked, table }
}

/** What it rejects with says which lock it is about. */
async function lockNamed(open: OpenTransaction<unknown>, call: RowCall): Promise<LockedRows<Row>> {
  const began = performance.now()
  try {
    const { plan, needs, options } = call
    if (plan.begin !== undefined && open.access === 'read-only')
      throw new LockUsageError('access', 'a read-only transaction cannot lock rows on this database')
    if (plan.needs.length > 0 && (await inTimeOf(options.wait, needs.make(plan.needs))))
      throw madeJustNow('the guard of the rows', plan.waiting.timeoutMs)
    const asked = performance.now()
    return given(call, await lockNow(open, call), performance.now() - asked)
  } catch (error) {
    throw namingHeld(error, askedOf(open, call, began))
  }
}

function lockNow(open: OpenTransaction<unknown>, call: RowCall): Promise<readonly Row[]> {
  const { plan, read, options } = call
  const lock = (): Promise<readonly Row[]> =>
    withSavepoint(open, { isAsked: options.savepoint === true, ready: read.ready }, () =>
      whileOpen(open, plan.setting, () =>
        withSetting(open.session, plan.setting, {
          doubt: open.doubt,
          signal: open.signal,
          work: () => takeRows(open, call),
        }),
      ),
    )
  return oneAtATime(open, () => lockInTime(open, options.wait, lock))
}

function given({ plan, read, options }: RowCall, rows: readonly Row[], waitedMs: number): LockedRows<Row> {
  const receipt = receiptOf(plan, options, { statements: [...before(plan), read.statement], waitedMs })
  return Object.assign([...rows], { receipt })
}

/**
 * A setting can outlast the transaction: when that ends before the setting is put back, because nobody waited for the
 * lock, the session must not go to anybody else.
 */
export function whileOpen<T>(
  open: OpenTransaction<unknown>,
  setting: Plan['setting'],
  work: () => Promise<T>,
): Promise<T> {
  return setting === undefined || setting.endsWithError === true ? work() : beforeItsEnd(open, work)
}

/** What a plan gave to somebody who asked with these options. */
export function receiptOf(
  plan: Plan,
  { mode = 'exclusive' }: Pick<RowOptions, 'mode'>,
  { statements, waitedMs }: Pick<Receipt, 'statements' | 'waitedMs'>,
): Receipt {
  return {
    dialect: plan.dialect,
    category: plan.category,
    asked: mode,
    granted: plan.mode,
    granularity: plan.support.granularity,
    scope: plan.scope,
    support: plan.support,
    statements,
    waitedMs,
  }
}

function before({ inTransaction, query }: Plan): readonly Statement[] {
  return query?.style === 'touch' ? [...inTransaction, query.touch] : inTransaction
}

function takeRows(
  { session, dialect, signal, limit }: OpenTransaction<unknown>,
  { plan, read, needs }: RowCall,
): Promise<readonly Row[]> {
  const taking = { dialect, signal, limit, what: 'the rows', reads: true } as const
  const send = (): Promise<readonly Row[]> =>
    read.run === undefined ? session.run(read.statement) : read.run()
  const first = before(plan)
  if (first.length === 0) return take(plan, taking, send)
  const taken = take(plan, taking, () => sendLock(session, first, taking.what).then(send))
  return taken.catch((error: unknown) => {
    // not a conflict with another, but nothing to conflict about: somebody has deleted the guard
    if (error instanceof LockContention && error.cause instanceof LockNotAvailableError)
      needs.forget(plan.needs)
    throw error
  })
}
