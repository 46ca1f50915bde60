import type { Category } from '../../core/category.ts'
import type { LockedRows } from '../rows/rows.ts'
import { isKeptOut, type Attempt } from './attempt.ts'
import { broken, holds, inMs, untried, verdictOfError, verdictOfLoser, type Verdict } from './verdict.ts'

export type Rows = LockedRows<object>

/** What was seen of each category that could be tried. */
export type Verdicts = Readonly<Partial<Record<Category, Verdict>>>

/** How long the one who waits with a limit waits. */
export const timeoutMs = 100
/** A timer may fire a little early. */
const leastMs = timeoutMs - 5

/** What came of asking while another held the row exclusively; undefined where that is not claimed. */
export interface SeenExclusive {
  readonly nowait: Attempt<Rows> | undefined
  readonly skip: Attempt<Rows> | undefined
  readonly timeout: Attempt<Rows> | undefined
  /** Asked with no limit, where the others are at odds or what keeps them out may be something else. */
  readonly plain?: Attempt<Rows>
}

/**
 * Whether one was kept out and another was not. Either a way to ask is broken, or there is no lock and the server
 * was busy: a slow answer and a conflict over something else look like a lock to who asks with a limit.
 */
export function areAtOdds({ nowait, skip, timeout }: SeenExclusive): boolean {
  const asked = [nowait, timeout].filter((one) => one !== undefined).map(isKeptOut)
  const all = skip === undefined ? asked : [...asked, isLeftOut(skip)]
  return all.includes(true) && all.includes(false)
}

/**
 * The lock holds when anybody at all was kept out, unless the same lock was granted twice: who got the row all the
 * same asked in a way that is broken by itself.
 */
export function judgeExclusive(seen: SeenExclusive, after: Attempt<Rows>): Verdicts {
  const { nowait, skip, timeout, plain } = seen
  if (plain?.outcome === 'granted') return nobodyKeptOut([plain])
  const asked = [nowait, timeout].filter((one) => one !== undefined)
  if (!asked.some(isKeptOut) && !(skip !== undefined && isLeftOut(skip))) return nobodyKeptOut(asked)
  return {
    'row-exclusive': judgeEnd(after),
    ...(nowait && { nowait: { ...judgeNowait(nowait), tookMs: nowait.tookMs } }),
    ...(skip && { 'skip-locked': { ...judgeSkip(skip), tookMs: skip.tookMs } }),
    ...(timeout && { 'lock-timeout': { ...judgeTimeout(timeout), tookMs: timeout.tookMs } }),
  }
}

function nobodyKeptOut(asked: readonly Attempt<Rows>[]): Verdicts {
  const [first] = asked
  if (first === undefined) return {}
  const winner = asked.find(({ outcome }) => outcome === 'granted') ?? first
  const exclusive = verdictOfLoser(winner, 'two transactions had the same row locked at the same time')
  const others = untried('there is no lock on the row that it could meet')
  return { 'row-exclusive': exclusive, nowait: others, 'skip-locked': others, 'lock-timeout': others }
}

function judgeEnd(after: Attempt<Rows>): Verdict {
  if (after.outcome === 'granted')
    return holds('a second transaction was kept out, and got the row when the first had ended')
  return verdictOfLoser(after, `the row was still locked ${inMs(after.tookMs)} after its holder had ended`)
}

function judgeNowait(tried: Attempt<Rows>): Verdict {
  if (tried.outcome === 'endless') return broken(`it waited for ${inMs(tried.tookMs)} and more`)
  if (isKeptOut(tried)) return holds(`it was refused after ${inMs(tried.tookMs)}`)
  return verdictOfLoser(tried, 'it was granted while another held the row')
}

function judgeTimeout(tried: Attempt<Rows>): Verdict {
  const { outcome, tookMs } = tried
  if (outcome === 'endless') return broken(`a wait of ${timeoutMs} ms had not ended after ${inMs(tookMs)}`)
  if (outcome === 'timed-out' && tookMs >= leastMs)
    return holds(`a wait of ${timeoutMs} ms ended after ${inMs(tookMs)}`)
  if (isKeptOut(tried)) return broken(`a wait of ${timeoutMs} ms ended after ${inMs(tookMs)} already`)
  return verdictOfLoser(tried, 'it was granted while another held the row')
}

function judgeSkip(tried: Attempt<Rows>): Verdict {
  if (isLeftOut(tried)) return holds('the row that another held was left out')
  if (isKeptOut(tried)) return broken('it met the lock of another instead of leaving the row out')
  return verdictOfLoser(tried, 'the row that another held was given too')
}

function isLeftOut(tried: Attempt<Rows>): boolean {
  return tried.outcome === 'granted' && tried.value.length === 0
}

/** What came of asking while another held the row in shared mode. */
export interface SeenShared {
  /** Whether the lock was granted as shared; otherwise it was an exclusive one, which is more. */
  readonly isShared: boolean
  readonly shared: Attempt<Rows>
  readonly exclusive: Attempt<Rows>
}

export function judgeShared({ isShared, shared, exclusive }: SeenShared): Verdict {
  if (!isKeptOut(exclusive))
    return verdictOfLoser(exclusive, 'the row was locked exclusively while another shared it')
  if (!isShared) {
    return isKeptOut(shared)
      ? holds('it is an exclusive lock here, and the second was kept out')
      : verdictOfLoser(shared, 'a lock that is said to be exclusive was shared')
  }
  if (shared.outcome === 'granted')
    return holds('two shared the row, and a third who wanted it alone was kept out')
  return shared.outcome === 'failed' ? verdictOfError(shared.error) : broken('two could not share the row')
}
