import { deadlineIn, pause } from '../core/deadline.ts'
import { backoffMs } from '../core/backoff.ts'
import { LockNotAvailableError, LockTimeoutError, LockUsageError } from '../core/errors.ts'
import type { Plan } from '../core/plan.ts'
import type { Receipt } from '../core/receipt.ts'
import type { RowRequest } from '../core/request.ts'
import { readAnswer, type Row, type Statement } from '../core/statement.ts'
import { LockContention } from './contention.ts'
import { readFailure } from './failure.ts'
import type { Needs } from './needs.ts'
import type { OpenTransaction } from './port.ts'
import { withSavepoint } from './savepoint.ts'
import { withSetting } from './setting.ts'

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
}

/** What a lock call needs besides the transaction. */
export interface RowCall {
  readonly plan: Plan
  readonly read: LockingRead
  readonly options: RowOptions
  readonly needs: Needs
}

/** Locks the rows of a query until the transaction ends, and reads them as they are once the lock is there. */
export async function lockRows(open: OpenTransaction<unknown>, call: RowCall): Promise<LockedRows<Row>> {
  const { plan, read, options, needs } = call
  if (plan.begin !== undefined && open.access === 'read-only') {
    throw new LockUsageError('access', 'a transaction that only reads cannot lock rows on this database')
  }
  if (await needs(plan.needs))
    throw new LockContention(plan.waiting.timeoutMs, new Error('its guard was made just now'))
  const began = performance.now()
  const rows = await withSavepoint(open, options.savepoint === true, () =>
    withSetting(open.session, plan.setting, {
      doubt: open.doubt,
      signal: open.signal,
      work: () => takeLock(open, plan, read),
    }),
  )
  const waitedMs = performance.now() - began
  const receipt = receiptOf(plan, options, { statements: [...before(plan), read.statement], waitedMs })
  return Object.assign([...rows], { receipt })
}

/** What a plan gave to somebody who asked with these options. */
export function receiptOf(
  plan: Plan,
  { mode = 'exclusive' }: RowOptions,
  taken: Pick<Receipt, 'statements' | 'waitedMs'>,
): Receipt {
  return {
    dialect: plan.dialect,
    category: plan.category,
    asked: mode,
    granted: plan.mode,
    granularity: plan.support.granularity,
    scope: plan.scope,
    support: plan.support,
    ...taken,
  }
}

function before({ inTransaction, query }: Plan): readonly Statement[] {
  return query?.style === 'touch' ? [...inTransaction, query.touch] : inTransaction
}

/** Sends the lock's statements; where the server would not wait as long as asked, again and again. */
async function takeLock(
  open: OpenTransaction<unknown>,
  plan: Plan,
  read: LockingRead,
): Promise<readonly Row[]> {
  const { by, timeoutMs } = plan.waiting
  const repeatUntil = by === 'statement' && plan.begin === undefined ? deadlineIn(timeoutMs) : undefined
  for (let look = 1; ; look += 1) {
    try {
      return await sendAll(open, plan, read)
    } catch (error) {
      const refusal = readRefusal(error, open, plan)
      if (refusal === undefined || repeatUntil === undefined)
        throw refusal ?? readFailure(error, open.dialect).error
      if (repeatUntil.isPast()) throw timedOut(timeoutMs, error)
      await pause(backoffMs(look, { baseMs: 5, capMs: 50 }), repeatUntil, open.signal)
    }
  }
}

async function sendAll(
  { session }: OpenTransaction<unknown>,
  plan: Plan,
  read: LockingRead,
): Promise<readonly Row[]> {
  for (const statement of before(plan)) {
    const rows = await session.run(statement)
    const answer = statement.answers && readAnswer(statement.answers, rows)
    if (answer !== undefined && answer !== 'granted') throw new LockNotAvailableError(`the lock is ${answer}`)
  }
  return read.run === undefined ? session.run(read.statement) : read.run()
}

/** What an error means under this plan: an engine may call a refused NOWAIT a timeout, and a held lock a conflict. */
function readRefusal(
  error: unknown,
  { dialect }: OpenTransaction<unknown>,
  { waiting }: Plan,
): Error | undefined {
  const { kind } = readFailure(error, dialect)
  const isHeld =
    kind === 'lock-not-available' || kind === 'lock-timeout' || kind === 'write-conflict' || kind === 'busy'
  if (!isHeld) return undefined
  if (waiting.by === 'nobody')
    return new LockNotAvailableError('the rows are locked by another', { cause: error })
  if (waiting.by === 'transaction') return new LockContention(waiting.timeoutMs, error)
  if (waiting.by === 'server' && waiting.timeoutMs !== undefined && kind !== 'write-conflict') {
    return timedOut(waiting.timeoutMs, error)
  }
  return waiting.by === 'statement'
    ? new LockNotAvailableError('the rows are locked by another', { cause: error })
    : undefined
}

function timedOut(timeoutMs: number | undefined, cause: unknown): LockTimeoutError {
  return new LockTimeoutError(`the rows were locked for ${timeoutMs} ms`, { cause })
}
