import { setImmediate as turn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'

import { LockError } from '../core/errors.ts'
import { describeAction, type Action } from './action.ts'
import type { Actor } from './actor.ts'
import { awakeMs } from './awake.ts'
import { BrokenLawError } from './broken-law.ts'
import type { Facts } from './facts.ts'
import { untilWaiting } from './observe.ts'
import { isRefusal } from './refusal.ts'
import { settledOf, type Stage } from './stage.ts'
import type { StepData } from './step.ts'
import { describeValue, type Watched } from './trace.ts'

/** Something that a session has begun. */
interface Running {
  readonly does: string
  readonly work: Promise<unknown>
  readonly watched: Watched
  readonly beganAt: number
  /** The same by {@link awakeMs}. */
  readonly awakeAt: number
}

/** Plays a schedule, one step after another, and breaks the law at the first that does not go as expected. */
export async function play(stage: Stage, schedule: readonly StepData[]): Promise<void> {
  const waiting = new Map<string, Running>()
  for (const step of schedule) await playStep(stage, step, waiting)
}

async function playStep(stage: Stage, step: StepData, waiting: Map<string, Running>): Promise<void> {
  const { actor: name, expect, atLeastMs = 0, atMostMs = Infinity } = step
  const actor = await stage.actor(name)
  const running = step.action === 'resumes' ? resumed(name, waiting) : begin(stage, actor, step)
  if (expect.is === 'waiting') {
    const repeated = actor.repeats()
    waiting.set(name, running)
    await untilWaiting(stage.ground, {
      does: running.does,
      isSettled: settledOf(running.work),
      inServer: step.action !== 'resumes' && waitsInServer(step.action, stage.facts) ? waiting.size : 0,
      repeats: () => actor.repeats() - repeated,
    }).catch((error: unknown) => notWaiting(running, error))
    running.watched.waits()
    return
  }
  await (expect.is === 'done' ? expectDone(running, expect) : expectFailure(running, expect.code))
  const tookMs = Math.round(performance.now() - running.beganAt)
  // timers may be a millisecond early
  stage.expect(
    tookMs >= atLeastMs - 2,
    `${running.does}: ended after ${tookMs} ms, not after ${atLeastMs} or more`,
  )
  const awakeForMs = Math.round(awakeMs() - running.awakeAt)
  stage.expect(
    awakeForMs <= atMostMs,
    `${running.does}: ended after ${awakeForMs} ms, not within ${atMostMs}`,
  )
}

function begin(stage: Stage, actor: Actor, { actor: name, action, expect }: StepData): Running {
  if (action === 'resumes') throw new TypeError('nothing to begin')
  // the time of a wait is counted from before it begins
  const [beganAt, awakeAt] = [performance.now(), awakeMs()]
  const work = actor.perform(action, expect.is === 'failed' && expect.isCaught)
  work.catch(() => {}) // looked at below
  const does = `${name}: ${describeAction(action)}`
  return {
    does,
    work,
    watched: stage.tracer.watch(name, describeAction(action), work),
    beganAt,
    awakeAt,
  }
}

function resumed(name: string, waiting: Map<string, Running>): Running {
  const running = waiting.get(name)
  if (running === undefined) throw new TypeError(`${name} resumes, but was not waiting`)
  waiting.delete(name)
  return running
}

async function expectDone({ does, work }: Running, expected: { readonly sees?: unknown }): Promise<void> {
  const value = await work
  if (!('sees' in expected) || isDeepStrictEqual(value, expected.sees)) return
  throw new BrokenLawError(
    `${does}: saw ${describeValue(value) ?? 'nothing'}, not ${describeValue(expected.sees) ?? 'nothing'}`,
  )
}

async function expectFailure({ does, work }: Running, code: string): Promise<void> {
  const outcome = await work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  if (!('error' in outcome)) throw new BrokenLawError(`${does}: went through, and should have failed`)
  const { error } = outcome
  // a refusal is an answer of its own, unless the law is about it
  if (isRefusal(error) && code !== error.code && code !== 'any') throw error
  if (code === 'any' || (error instanceof LockError && error.code === code)) return
  throw new BrokenLawError(`${does}: failed with ${describeValue(error)}, not with ${code}`, { cause: error })
}

/** Who has failed instead of waiting says why. */
async function notWaiting({ work, does }: Running, broken: unknown): Promise<never> {
  const isSettled = settledOf(work)
  await turn() // what has ended says so before the next turn of the event loop
  const failure: unknown = isSettled() ? await work.catch((error: unknown) => error) : undefined
  if (!(failure instanceof Error)) throw broken
  if (isRefusal(failure)) throw failure
  throw new BrokenLawError(`${does}: did not wait, but failed with ${describeValue(failure)}`)
}

/** Whether the server itself makes a session wait for this, so that it can be seen there. */
function waitsInServer(action: Action, { plan }: Facts): boolean {
  if (action.verb === 'lock-row') {
    const { mode = 'exclusive', wait = 'block' } = action.options ?? {}
    return plan(mode === 'shared' ? 'row-shared' : 'row-exclusive', { wait })?.waiting.by === 'server'
  }
  if (action.verb === 'begin-locked' || action.verb === 'lock-name') {
    const { wait = 'block', mode = 'exclusive' } = action.options ?? {}
    return plan('advisory', { wait, mode })?.waiting.by === 'server'
  }
  if (action.verb === 'write' || action.verb === 'add' || action.verb === 'delete') {
    return plan('row-exclusive')?.waiting.by === 'server'
  }
  return false
}
