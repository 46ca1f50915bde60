import { classifyError } from '../classify.ts'
import { describeValue } from '../conformance/trace.ts'
import { LockUsageError } from '../core/errors.ts'
import { bounded } from './bounded.ts'
import { clearUp } from './clear-up.ts'
import { whoWaits } from './look.ts'
import type { Observer } from './observer.ts'
import type { Exploration, RaceResults } from './options.ts'
import { play, type Choose, type Played, type Stage } from './play.ts'
import type { RaceEvent, ScheduleResult } from './report.ts'
import { nameOf, switchesOf, type Decision } from './schedule.ts'
import type { Seam } from './seam.ts'

/** All that a schedule needs. */
export interface Theatre extends Exploration, Stage {
  readonly signal: AbortSignal | undefined
  readonly observer: Observer | undefined
  readonly seam: Seam
}

export interface Ran {
  readonly result: ScheduleResult
  readonly decisions: readonly Decision[]
  /** The actors that a conflict has refused. */
  readonly lost: readonly string[]
  /** It was not run to its end. */
  readonly isCut: boolean
}

/** Runs one schedule from a fresh state, and says what became of it. What is left open is ended. */
export async function runSchedule(theatre: Theatre, choose: Choose): Promise<Ran> {
  const { gate } = theatre
  if ((await reset(theatre)) === 'aborted') return cut
  const played = await play(theatre, theatre.actors, choose).catch(async (error: unknown) => {
    gate.abandon()
    await clearUp(theatre, new Set())
    throw error
  })
  const waiting = played.ending === 'hang' ? whoWaits(gate) : []
  const done = new Set(gate.actors.filter(({ result }) => result !== undefined))
  if (played.ending !== 'over') gate.abandon()
  const left = await clearUp(theatre, done)
  const results = resultsOf(theatre)
  const verdict = await judge(theatre, { played, waiting, left, results })
  const { decisions } = played
  const result: ScheduleResult = {
    name: nameOf(decisions),
    switches: switchesOf(decisions),
    ...verdict,
    results: Object.fromEntries(Object.entries(results).map(([name, ended]) => [name, inWords(ended)])),
    trace: traceOf(theatre),
  }
  const lost = Object.keys(results).filter((name) => isConflict(results[name]))
  return { result, decisions, lost, isCut: result.reason === interrupted }
}

const interrupted = 'interrupted'

const cut: Ran = {
  result: { name: '', switches: 0, outcome: 'holds', reason: interrupted, results: {}, trace: [] },
  decisions: [],
  lost: [],
  isCut: true,
}

async function reset(theatre: Theatre): Promise<'ended' | 'aborted'> {
  const end = await bounded(theatre.reset, theatre)
  if (end !== 'hang') return end
  throw new LockUsageError(
    'reset',
    `has not ended after ${theatre.hangMs} ms: it may wait for a lock that somebody else holds, or for a connection`,
  )
}

interface Evidence {
  readonly played: Played
  readonly waiting: readonly string[]
  readonly left: readonly string[]
  readonly results: RaceResults
}

type Verdict = Pick<ScheduleResult, 'outcome' | 'reason'>

async function judge(theatre: Theatre, { played, waiting, left, results }: Evidence): Promise<Verdict> {
  if (played.ending === 'hang') {
    const reason = `nothing has happened for ${theatre.hangMs} ms: ${waiting.join('; ')}`
    return { outcome: 'hang', reason }
  }
  if (played.ending === 'aborted') return { outcome: 'holds', reason: interrupted }
  if (left.length > 0) return { outcome: 'left-open', reason: left.join('; ') }
  const lost = Object.entries(results).find(([, result]) => isConflict(result))
  if (lost !== undefined && theatre.conflicts === 'fail') {
    return { outcome: 'conflict', reason: `${lost[0]} was not run again after it ${inWords(lost[1])}` }
  }
  try {
    const end = await bounded(() => theatre.invariant(results), theatre)
    if (end === 'hang')
      return { outcome: 'hang', reason: `the invariant has not ended after ${theatre.hangMs} ms` }
    return end === 'aborted' ? { outcome: 'holds', reason: interrupted } : { outcome: 'holds' }
  } catch (error) {
    return { outcome: 'broken', reason: error instanceof Error ? error.message : String(error) }
  }
}

/** A deadlock, a serialization failure or the like, after which the transaction should have been run again. */
function isConflict(result: PromiseSettledResult<unknown> | undefined): boolean {
  return result?.status === 'rejected' && classifyError(result.reason).retryable
}

function resultsOf({ gate }: Theatre): RaceResults {
  const unfinished = { status: 'rejected', reason: new Error('it has not ended') } as const
  return Object.fromEntries(gate.actors.map(({ name, result }) => [name, result ?? unfinished]))
}

/** How the words for an actor that failed begin. */
export const threw = 'threw '

function inWords(result: PromiseSettledResult<unknown>): string {
  const value: unknown = result.status === 'fulfilled' ? result.value : result.reason
  const words = describeValue(value) ?? 'nothing'
  return result.status === 'fulfilled' ? `gave ${words}` : `${threw}${words}`
}

function traceOf({ gate }: Theatre): readonly RaceEvent[] {
  return gate.actors.flatMap(({ trace }) => trace).toSorted((one, other) => one.step - other.step)
}
