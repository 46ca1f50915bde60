import { deadlineIn, pause } from '../../core/deadline.ts'
import type { Plan } from '../../core/plan.ts'
import type { Session } from '../../core/session.ts'
import { emit } from '../../emit.ts'
import { untilAborted } from '../abort.ts'
import { openSession } from '../open-session.ts'
import { sessionEnd } from '../session-end.ts'
import { withSetting } from '../setting.ts'
import { sendLock, take } from '../take.ts'
import { attempt, holdMs, isKeptOut, type Attempt } from './attempt.ts'
import type { Ground } from './ground.ts'
import { holds, untried, verdictOfError, verdictOfLoser, type Verdict } from './verdict.ts'

/** How long the table is asked for again while others use it. */
const patienceMs = 500
const what = 'the table'

/** The lock on a table that both ask for. */
interface TableTrial<Tx> {
  readonly ground: Ground<Tx>
  readonly plan: Plan
}

/**
 * Locks the whole table of leases, since another table would have to be made: for the time of one question, and without
 * waiting. Whoever wants a lease meanwhile waits for that long.
 */
export async function tryTable<Tx>(ground: Ground<Tx>): Promise<Verdict> {
  const { dialect, version } = ground.server
  const server = { dialect, version: version.join('.') }
  const trial = { ground, plan: emit(server, 'table', { table: '_leases', wait: 'nowait' }) }
  const first = await whenFree(trial, () => lockFor(trial, async () => {}))
  if (first.outcome === 'failed') return verdictOfError(first.error)
  if (first.outcome !== 'granted') return untried('the table of leases was in use all the time')
  if (!isKeptOut(first.value))
    return verdictOfLoser(first.value, 'two transactions had the same table locked at the same time')
  const after = await whenFree(trial, async () => {})
  return after.outcome === 'granted'
    ? holds('a second transaction was kept out, and got the table when the first had ended')
    : verdictOfLoser(after, 'the table was still locked after its holder had ended')
}

/** Others use the table too: asks a few times. */
async function whenFree<Tx, T>(trial: TableTrial<Tx>, work: () => Promise<T>): Promise<Attempt<T>> {
  const deadline = deadlineIn(patienceMs)
  for (;;) {
    const tried = await lockFor(trial, work, holdMs)
    if (!isKeptOut(tried) || deadline.isPast()) return tried
    await pause(20, deadline, trial.ground.signal)
  }
}

/** Runs `work` while a connection of its own has the table locked. */
function lockFor<Tx, T>(
  { ground, plan }: TableTrial<Tx>,
  work: () => Promise<T>,
  withinMs?: number,
): Promise<Attempt<T>> {
  const { port, server } = ground
  const hold = async (signal: AbortSignal): Promise<T> => {
    const session = await openSession(port, { signal, patienceMs, purpose: 'to try a lock on a table' })
    const ending = sessionEnd(session)
    const locked = async (): Promise<T> => {
      await take(plan, { dialect: server.dialect, signal, what }, () => begin(session, plan, ending.doubt))
      return work()
    }
    try {
      return await untilAborted(locked(), signal, () => ending.doubt(signal.reason))
    } finally {
      if (!ending.isInDoubt()) await session.rollback().catch(ending.doubt)
      await ending.end()
    }
  }
  return attempt(ground, hold, withinMs)
}

async function begin(session: Session, plan: Plan, doubt: (why: unknown) => void): Promise<void> {
  await session.begin(plan.begin === undefined ? {} : { mode: plan.begin })
  await withSetting(session, plan.setting, {
    doubt,
    signal: undefined,
    work: () => sendLock(session, plan.inTransaction, what),
  })
}
