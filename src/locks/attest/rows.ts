import type { Category } from '../../core/category.ts'
import type { Target, Wait } from '../../core/request.ts'
import { planOn } from '../../dialects/plan-on.ts'
import type { LockedRows, RowOptions } from '../rows/rows.ts'
import type { TransactionOptions } from '../transaction/options.ts'
import { attempt, holdMs, type Attempt } from './attempt.ts'
import type { Ground } from './ground.ts'
import {
  areAtOdds,
  judgeExclusive,
  judgeShared,
  timeoutMs,
  type Rows,
  type SeenExclusive,
  type Verdicts,
} from './rows-verdict.ts'
import { untried, verdictOfError, type Verdict } from './verdict.ts'

/** How long the next one may take to get a row that is free. */
const freeWithinMs = 1000

/** How long a server that refuses at once is asked again and again: it says the same when it has no time. */
const conflictMs = 1000

/** A row that both ask for. */
export interface RowTrial<Tx> {
  readonly ground: Ground<Tx>
  readonly target: Target
}

/** Tries all that is about an exclusive lock: one holds the row, and the other asks in each way that is claimed. */
export async function tryExclusive<Tx>(
  trial: RowTrial<Tx>,
  isClaimed: (category: Category) => boolean,
): Promise<Verdicts> {
  const ask = async (category: Category, wait: Wait): Promise<Attempt<Rows> | undefined> =>
    isClaimed(category) ? askFor(trial, { wait }) : undefined
  const hold = await holdWhile(trial, {}, async () => {
    const seen: SeenExclusive = {
      nowait: await ask('nowait', 'nowait'),
      skip: await ask('skip-locked', 'skip'),
      timeout: await ask('lock-timeout', { timeoutMs }),
    }
    if (areAtOdds(seen)) return { ...seen, plain: await askFor(trial, {}) }
    return isRefusedAtOnce(trial) ? { ...seen, plain: await askFor(trial, {}, conflictMs) } : seen
  })
  if ('observed' in hold) return notLocked(hold)
  return judgeExclusive(hold.seen, await askFor(trial, { wait: { timeoutMs: freeWithinMs } }))
}

/** Two share a row, where the engine knows sharing, and nobody else gets it. */
export async function tryShared<Tx>(trial: RowTrial<Tx>): Promise<Verdict> {
  const hold = await holdWhile(trial, { mode: 'shared' }, async () => ({
    shared: await askFor(trial, { mode: 'shared', wait: 'nowait' }),
    exclusive: await askFor(trial, { wait: 'nowait' }),
  }))
  if ('observed' in hold) return hold
  return judgeShared({ ...hold.seen, isShared: hold.granted === 'shared' })
}

/** Without the lock there is nothing that others could meet. */
function notLocked(hold: Verdict): Verdicts {
  const others = untried(`a row could not be locked: ${hold.detail}`)
  return { 'row-exclusive': hold, 'skip-locked': others, nowait: others, 'lock-timeout': others }
}

interface Hold<T> {
  readonly granted: 'shared' | 'exclusive'
  readonly seen: T
}

/** Looks on while the first application holds the row; a verdict when it could not get it. */
async function holdWhile<Tx, T>(
  { ground, target }: RowTrial<Tx>,
  options: RowOptions,
  look: () => Promise<T>,
): Promise<Hold<T> | Verdict> {
  const { a } = ground
  const hold = async (signal: AbortSignal): Promise<Hold<T> | undefined> =>
    a.transaction(
      async (tx) => {
        const rows = await a.rows(tx, target, options)
        return rows.length === 1 ? { granted: rows.receipt.granted, seen: await look() } : undefined
      },
      { signal },
    )
  const held = await attempt(ground, hold, holdMs)
  if (held.outcome === 'granted') return held.value ?? untried('the row to try on is gone')
  if (held.outcome === 'failed') return verdictOfError(held.error)
  return untried('the row could not be locked to begin with')
}

/** Where nobody waits in the server. A conflict over something else is then no other answer than one over the row. */
function isRefusedAtOnce<Tx>({ ground: { server }, target }: RowTrial<Tx>): boolean {
  return planOn(server, 'row-exclusive', { target }).waiting.by === 'transaction'
}

function askFor<Tx>(
  { ground, target }: RowTrial<Tx>,
  options: RowOptions,
  ms?: number,
): Promise<Attempt<Rows>> {
  const { b } = ground
  const limit = beginLimit(ground, options.wait)
  return attempt(
    ground,
    (signal): Promise<LockedRows<object>> =>
      b.transaction((tx) => b.rows(tx, target, options), { signal, ...limit }),
    ms,
  )
}

/** Where BEGIN takes the lock, it is BEGIN that has to be told how long to wait. */
function beginLimit<Tx>(
  { server: { dialect } }: Ground<Tx>,
  wait: Wait | undefined,
): Pick<TransactionOptions, 'lockTimeoutMs'> {
  if (dialect.transaction.writeMode === undefined) return {}
  return { lockTimeoutMs: typeof wait === 'object' ? wait.timeoutMs : 1 }
}
