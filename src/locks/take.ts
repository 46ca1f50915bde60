import type { ErrorLike } from '../core/classification.ts'
import { backoffMs } from '../core/backoff.ts'
import { performance } from '../core/clock.ts'
import { deadlineIn, pause } from '../core/deadline.ts'
import { LockNotAvailableError, LockTimeoutError, RetryableTransactionError } from '../core/errors.ts'
import type { Plan } from '../core/plan.ts'
import type { Session } from '../core/session.ts'
import { readAnswer, type Row, type Statement } from '../core/statement.ts'
import type { Dialect } from '../dialects/dialect.ts'
import { LockContention } from './contention.ts'
import { failedBy } from './deadlocks/own-statement.ts'
import { readFailure } from './failure.ts'
import type { LockLimit } from './port.ts'

/** Where a lock is taken, and what to call it when it cannot be had. */
export interface Taking {
  readonly dialect: Dialect
  readonly signal: AbortSignal | undefined
  /** The limit of the transaction for every lock that has none of its own. */
  readonly limit: LockLimit
  /** As in `the rows` or `the lock`. */
  readonly what: string
  /** Whether its statement reads besides, as a query of the caller's does. */
  readonly reads?: true
}

/** What `send` gives, as the plan's way of waiting reads it: where the server would not wait as asked, again and again. */
export function take<T>(plan: Plan, taking: Taking, send: () => Promise<T>): Promise<T> {
  if (plan.waiting.by === 'statement' && plan.begin === undefined) return takeRepeating(plan, taking, send)
  const began = performance.now()
  return send().catch((error: unknown) => {
    const refusal = readRefusal(error, plan, taking) ?? readCancel(error, plan, { ...taking, began })
    throw refusal ?? readFailure(error, taking.dialect).error
  })
}

async function takeRepeating<T>(plan: Plan, taking: Taking, send: () => Promise<T>): Promise<T> {
  const { timeoutMs } = plan.waiting
  const deadline = deadlineIn(timeoutMs)
  for (let look = 1; ; look += 1) {
    try {
      return await send()
    } catch (error) {
      if (readRefusal(error, plan, taking) === undefined) throw readFailure(error, taking.dialect).error
      if (deadline.isPast()) throw timedOut(timeoutMs, taking, error)
      await pause(backoffMs(look, { baseMs: 5, capMs: 50 }), deadline, taking.signal)
    }
  }
}

/** Sends a lock's own statements. One that answers with a value rejects unless the value is a grant. */
export async function sendLock(
  session: Session,
  statements: readonly Statement[],
  what: string,
): Promise<readonly Row[]> {
  let rows: readonly Row[] = []
  for (const statement of statements) {
    rows = await session.run(statement).catch(failedBy(statement))
    const answer = statement.answers && readAnswer(statement.answers, rows)
    if (answer === undefined || answer === 'granted') continue
    if (answer === 'busy' || answer === 'not-held')
      throw new LockNotAvailableError(`another holder has ${what}`)
    if (answer === 'deadlock')
      throw new RetryableTransactionError('deadlock', `the wait for ${what} closed a circle: run it again`)
    throw new UncertainGrantError(what, answer)
  }
  return rows
}

/** The server did not say whether it granted the lock: the session must not go on. */
export class UncertainGrantError extends Error {
  override readonly name = 'UncertainGrantError'

  constructor(what: string, answer: string) {
    super(`the server did not say whether ${what} was granted (${answer})`)
  }
}

/** What an error means under this plan: an engine may call a refused NOWAIT a timeout, and a held lock a conflict. */
function readRefusal(error: unknown, { waiting }: Plan, taking: Taking): Error | undefined {
  const { kind } = readFailure(error, taking.dialect)
  const isHeld =
    kind === 'lock-not-available' || kind === 'lock-timeout' || kind === 'write-conflict' || kind === 'busy'
  if (!isHeld) return undefined
  if (waiting.by === 'transaction') return new LockContention(waiting.timeoutMs, error)
  if (waiting.by === 'server' && waiting.isRefusal !== true) {
    return waiting.timeoutMs === undefined || kind === 'write-conflict'
      ? undefined
      : timedOut(waiting.timeoutMs, taking, error)
  }
  return new LockNotAvailableError(`${taking.what}: another holder has it`, {
    cause: error,
    dialect: taking.dialect.name,
  })
}

/** A timeout that the server calls a cancel: not before its time is over, and only where the dialect knows of such ones. */
function readCancel(
  error: unknown,
  { waiting }: Plan,
  taking: Taking & { readonly began: number },
): LockTimeoutError | undefined {
  const limitMs = waiting.timeoutMs ?? taking.limit.ms
  const { mayBeTimeout } = taking.dialect.transaction
  if (waiting.by !== 'server' || limitMs === undefined || mayBeTimeout === undefined) return undefined
  if (performance.now() - taking.began < limitMs) return undefined
  const { kind, original } = readFailure(error, taking.dialect)
  if (kind !== 'cancelled' || !(original instanceof Error)) return undefined
  const isOnlyLocks = taking.reads === undefined
  return mayBeTimeout(original as ErrorLike & Error, isOnlyLocks)
    ? timedOut(limitMs, taking, error)
    : undefined
}

function timedOut(
  timeoutMs: number | undefined,
  { what, dialect }: Taking,
  cause: unknown,
): LockTimeoutError {
  return new LockTimeoutError(`${what}: another holder had it for ${timeoutMs} ms`, {
    cause,
    dialect: dialect.name,
  })
}
