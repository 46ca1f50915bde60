import { LockError } from '../core/errors.ts'
import { isUnsupported } from '../core/support.ts'
import { isCategory } from '../core/category.ts'
import { untilAborted } from '../locks/abort.ts'
import { awakeTimeout, watchStandstill } from './awake.ts'
import type { Ground } from './ground.ts'
import { interleavings, playOrder, turnsOf } from './interleave.ts'
import { BrokenLawError } from './broken-law.ts'
import type { InterleavedLaw, Law } from './law.ts'
import { play } from './play.ts'
import { seededRandom } from './random.ts'
import { isRefusal } from './refusal.ts'
import type { LawResult, TraceEvent, Verdict } from './report.ts'
import { openStage, type Stage } from './stage.ts'
import type { Sabotage } from './subject.ts'
import { describeValue } from './trace.ts'

/** How one law is run. */
export interface LawRun {
  /** @default 1 */
  readonly seed?: number
  /** A law that has not ended by then is broken; the time stands still with the process. @default 30_000 */
  readonly timeoutMs?: number
  readonly sabotage?: Sabotage
  readonly signal?: AbortSignal | undefined
}

/** A machine that stands still each time shows nothing better. */
const mostTries = 5

/**
 * Runs one law, and says whether it holds. When it is broken while the process stands still, that says nothing, and it is
 * run again, a few times at most. Rejects only when the database itself is gone.
 */
export async function runLaw(ground: Ground, law: Law, options: LawRun = {}): Promise<LawResult> {
  const began = performance.now()
  const { id, says, features } = law
  const result = (verdict: Verdict, trace: readonly TraceEvent[], reason?: string): LawResult => ({
    id,
    says,
    features,
    verdict,
    ...(reason !== undefined && { reason }),
    tookMs: Math.round(performance.now() - began),
    runs: 1,
    trace,
  })
  const excuse = excuseOf(ground, law)
  if (excuse !== undefined) return result(excuse.verdict, [], excuse.reason)
  const { trace, failure } = await performAwake(ground, law, options)
  if (failure === undefined) return result('holds', trace)
  options.signal?.throwIfAborted()
  const { error } = failure
  return isRefusal(error)
    ? result('refused', trace, error.message)
    : result('broken', trace, describeFailure(error))
}

function excuseOf(
  { facts }: Ground,
  { features, unless, aboutRefusal = false }: Law,
): { readonly verdict: Verdict; readonly reason: string } | undefined {
  for (const feature of features) {
    const support = isCategory(feature) ? facts.support(feature) : undefined
    if (isUnsupported(support) && !aboutRefusal) return { verdict: 'refused', reason: support.reason }
  }
  const reason = unless?.(facts)
  return reason === undefined ? undefined : { verdict: 'not-promised', reason }
}

interface Performance {
  readonly trace: readonly TraceEvent[]
  readonly failure?: { readonly error: unknown }
}

/** A process that stands still breaks the limits of drivers and servers, whatever the law: that says nothing of it. */
async function performAwake(ground: Ground, law: Law, options: LawRun): Promise<Performance> {
  for (let tries = 1; ; tries += 1) {
    const stoodStill = watchStandstill()
    const performance = await perform(ground, law, options)
    // where a mistake was put in, it is meant to be broken
    const isMeant = performance.failure === undefined || options.sabotage !== undefined
    const isOver = isMeant || options.signal?.aborted === true
    if (isOver || isRefusal(performance.failure?.error) || !stoodStill() || tries === mostTries)
      return performance
  }
}

async function perform(ground: Ground, law: Law, options: LawRun): Promise<Performance> {
  const { seed = 1, timeoutMs = 30_000, sabotage, signal } = options
  const time = awakeTimeout(timeoutMs)
  const over = signal === undefined ? time : AbortSignal.any([signal, time])
  let stage: Stage | undefined
  let failure: Performance['failure']
  try {
    stage = await openStage(ground, { rows: law.rows, sabotage, random: seededRandom(seed), signal: over })
    await inTime(inFull(law, stage), over, timeoutMs)
  } catch (error) {
    failure = { error }
  }
  const trace = stage?.tracer.events() ?? []
  try {
    await stage?.close()
  } catch (error) {
    failure ??= { error }
  }
  return { trace, ...(failure && { failure }) }
}

/** After every law nothing may remain. */
async function inFull(law: Law, stage: Stage): Promise<void> {
  if ('trial' in law) await law.trial(stage)
  else if ('interleave' in law) await inEveryOrder(stage, law)
  else await play(stage, typeof law.schedule === 'function' ? law.schedule(stage.facts) : law.schedule)
  await stage.expectClean().catch((error: unknown) => {
    // the law itself was not refused
    throw isRefusal(error) ? new BrokenLawError(`nobody can tell what it leaves: ${error.message}`) : error
  })
}

function ordersOf({ interleave }: InterleavedLaw): readonly (readonly string[])[] {
  const lengths = Object.entries(interleave).map(([name, steps]) => [name, turnsOf(steps).length] as const)
  return interleavings(Object.fromEntries(lengths))
}

async function inEveryOrder(stage: Stage, law: InterleavedLaw): Promise<void> {
  const { fixture } = stage.facts.tools
  for (const order of ordersOf(law)) {
    for (const [id, n] of Object.entries(law.rows ?? {})) {
      await stage.ground.command(fixture.write(stage.table, Number(id), n))
    }
    await playOrder(stage, law.interleave, order)
    const wrong = law.always(await stage.committed())
    stage.expect(wrong === undefined, `in the order ${order.join('')}: ${wrong}`)
  }
}

async function inTime(work: Promise<void>, signal: AbortSignal, timeoutMs: number): Promise<void> {
  work.catch(() => {}) // nobody listens when it is late
  try {
    await untilAborted(work, signal, () => {})
  } catch (error) {
    if (error !== signal.reason) throw error
    throw new BrokenLawError(`has not ended within ${timeoutMs} ms`, { cause: error })
  }
}

function describeFailure(error: unknown): string {
  if (error instanceof BrokenLawError) return error.message
  const cause = error instanceof LockError && error.cause instanceof Error ? ` (${error.cause.message})` : ''
  return `${describeValue(error)}${cause}`
}
