import { setTimeout as pause } from 'node:timers/promises'

import { RetryableTransactionError } from '../core/errors.ts'
import { describeAction } from './action.ts'
import { BrokenLawError } from './broken-law.ts'
import { settledOf, type Stage } from './stage.ts'
import type { StepData } from './step.ts'
import { describeValue } from './trace.ts'

type Turns = Readonly<Record<string, readonly StepData[]>>

/** Every order in which the steps of several sessions can follow each other, each session's own order kept. */
export function interleavings(lengths: Readonly<Record<string, number>>): readonly (readonly string[])[] {
  const left = Object.entries(lengths).filter(([, length]) => length > 0)
  if (left.length === 0) return [[]]
  return left.flatMap(([name, length]) =>
    interleavings({ ...lengths, [name]: length - 1 }).map((rest) => [name].concat(rest)),
  )
}

/** How long a step may take before the next session has its turn: it waits for that one, most likely. */
const patienceMs = 25

/**
 * Plays one order. A session that waits loses its turn: its later steps follow as soon as it may go on.
 *
 * Nothing is expected of single steps but that they end; what counts is what the table looks like afterwards.
 */
export async function playOrder(stage: Stage, turns: Turns, order: readonly string[]): Promise<void> {
  const places = new Map<string, number>()
  const all: Promise<unknown>[] = []
  const isDone = new Map<string, () => boolean>()
  for (const name of order) {
    const place = places.get(name) ?? 0
    places.set(name, place + 1)
    const before = all.findLast((_, index) => order[index] === name)
    const work = takeTurn(stage, { name, steps: turnsOf(turns[name])[place] ?? [], before })
    work.catch(() => {}) // looked at below
    all.push(work)
    const isWaiting = isDone.get(name)?.() === false
    const isSettled = settledOf(work)
    isDone.set(name, isSettled)
    // whoever waits already has lost this turn too
    if (!isWaiting) await untilSettled(isSettled)
  }
  const outcomes = await Promise.allSettled(all)
  const failed = outcomes.find(({ status }) => status === 'rejected')
  if (failed?.status !== 'rejected') return
  const error: unknown = failed.reason
  if (error instanceof RetryableTransactionError) {
    throw new BrokenLawError(`in the order ${order.join('')}: every attempt was lost: ${error.message}`)
  }
  throw new BrokenLawError(`in the order ${order.join('')}: ${describeValue(error)}`, { cause: error })
}

interface Turn {
  readonly name: string
  readonly steps: readonly StepData[]
  /** The session's own turn before this one. */
  readonly before: Promise<unknown> | undefined
}

async function takeTurn(stage: Stage, { name, steps, before }: Turn): Promise<void> {
  const actor = await stage.actor(name)
  await before
  for (const { action } of steps) {
    if (action === 'resumes') throw new TypeError('whoever waits in some order resumes by itself')
    await stage.note(name, describeAction(action), actor.perform(action))
  }
}

/** A transaction begins with what is first done in it: `begin` alone is no turn. */
export function turnsOf(steps: readonly StepData[] = []): readonly (readonly StepData[])[] {
  const turns: StepData[][] = []
  let open: StepData[] = []
  for (const step of steps) {
    if (step.isAtOnce === true) open = turns.pop() ?? open
    open.push(step)
    if (step.action !== 'resumes' && step.action.verb === 'begin') continue
    turns.push(open)
    open = []
  }
  return turns
}

async function untilSettled(isSettled: () => boolean): Promise<void> {
  const deadline = performance.now() + patienceMs
  while (!isSettled() && performance.now() < deadline) await pause(1)
}
