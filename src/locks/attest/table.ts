import { deadlineIn, pause } from '../../core/deadline.ts'
import { attempt, holdMs, isKeptOut, type Attempt } from './attempt.ts'
import type { Ground } from './ground.ts'
import { holds, untried, verdictOfError, verdictOfLoser, type Verdict } from './verdict.ts'

/** How long the table is asked for again while others use it. */
const patienceMs = 500

/**
 * Locks the whole table of leases, since another table would have to be made: for the time of one question, and without
 * waiting. Whoever wants a lease meanwhile waits for that long.
 */
export async function tryTable<Tx>(ground: Ground<Tx>): Promise<Verdict> {
  const second = (): Promise<Attempt<void>> => lockFor(ground, { by: 'b', work: async () => {} })
  const first = await whenFree(ground, second)
  if (first.outcome === 'failed') return verdictOfError(first.error)
  if (first.outcome !== 'granted') return untried('the table of leases was in use all the time')
  if (!isKeptOut(first.value))
    return verdictOfLoser(first.value, 'two transactions had the same table locked at the same time')
  const after = await whenFree(ground, async () => {})
  return after.outcome === 'granted'
    ? holds('a second transaction was kept out, and got the table when the first had ended')
    : verdictOfLoser(after, 'the table was still locked after its holder had ended')
}

/** Others use the table too: asks a few times. */
async function whenFree<Tx, T>(ground: Ground<Tx>, work: () => Promise<T>): Promise<Attempt<T>> {
  const deadline = deadlineIn(patienceMs)
  for (;;) {
    const tried = await lockFor(ground, { by: 'a', work, withinMs: holdMs })
    if (!isKeptOut(tried) || deadline.isPast()) return tried
    await pause(20, deadline, ground.signal)
  }
}

interface Holding<T> {
  readonly by: 'a' | 'b'
  readonly work: () => Promise<T>
  readonly withinMs?: number
}

/** Runs `work` while one of the two applications has the table locked. */
function lockFor<Tx, T>(ground: Ground<Tx>, { by, work, withinMs }: Holding<T>): Promise<Attempt<T>> {
  const tables = { table: '_leases', wait: 'nowait' } as const
  const hold = (signal: AbortSignal): Promise<T> =>
    ground[by].transaction(work, { tables, signal, attempts: 1 })
  return attempt(ground, hold, withinMs)
}
