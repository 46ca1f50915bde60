import type { Actor } from './actor.ts'
import type { Gate } from './gate.ts'
import { effectOf, isQuiet } from './quiet.ts'
import type { Decision } from './schedule.ts'

/** Where a schedule is run. */
export interface Stage {
  readonly gate: Gate
  /** Looks whether what runs waits on the server, and notes it. */
  readonly look: () => Promise<void>
  /** How long code of an actor's own may take before the others go on. */
  readonly patienceMs: number
  /** After so long without anything happening a schedule hangs. */
  readonly hangMs: number
  readonly signal: AbortSignal | undefined
}

export interface Played {
  readonly decisions: readonly Decision[]
  /** `left`: whoever has not ended waits for an actor that has, and has left its transaction open. */
  readonly ending: 'over' | 'left' | 'hang' | 'aborted'
}

export type Choose = (point: Omit<Decision, 'chosen'>, index: number) => string

type Work = () => unknown

/** Runs one schedule: lets one actor take one step, waits until everybody stands still, and chooses who goes next. */
export async function play(
  stage: Stage,
  actors: Readonly<Record<string, Work>>,
  choose: Choose,
): Promise<Played> {
  const { gate } = stage
  const decisions: Decision[] = []
  for (const actor of gate.begin(Object.keys(actors))) {
    const work = actors[actor.name]
    if (work !== undefined) gate.prepare(actor, work)
  }
  gate.onPassed = (actor) => decisions.push(behind(gate, actor, (point) => choose(point, decisions.length)))
  let current: string | undefined
  let isMidway = false
  for (;;) {
    const state = await untilTurn(stage)
    if (state !== 'turn') return { decisions, ending: state }
    const ready = gate.actors.filter(({ isReady }) => isReady)
    const [actor, decision] = decide(ready, { current, isMidway }, (point) => choose(point, decisions.length))
    decisions.push(decision)
    current = actor.name
    const text = await takeStep(stage, actor)
    if (text === 'aborted') return { decisions, ending: text }
    isMidway = isQuiet(text) && !gate.readsBeginTime
  }
}

/** Behind a statement that could not be held back another actor may begin: as soon as this one awaits anything. */
function behind(gate: Gate, actor: Actor, choose: (point: Omit<Decision, 'chosen'>) => string): Decision {
  const others = gate.actors.filter(({ begin }) => begin !== undefined)
  const point = { enabled: [actor, ...others].map(({ name }) => name), current: actor.name }
  const chosen = others.length === 0 ? actor.name : choose(point)
  const next = others.find(({ name }) => name === chosen)
  if (next !== undefined) queueMicrotask(() => next.begin?.())
  return { ...point, chosen }
}

/** The first step begins the work, and goes as far as its first statement. Gives the text of what was sent, if anything. */
async function takeStep(stage: Stage, actor: Actor): Promise<string> {
  if (actor.begin === undefined) return stage.gate.release(actor)
  actor.begin()
  const { gate, patienceMs, hangMs, signal } = stage
  const began = performance.now()
  while (actor.isMoving(gate.version, patienceMs) && performance.now() - began <= hangMs) {
    if (signal?.aborted === true) return 'aborted'
    await gate.change(lookAfterMs)
  }
  return actor.pending.length > 0 ? gate.release(actor) : ''
}

interface Before {
  readonly current: string | undefined
  /** The last step was one after which nobody else is let in. */
  readonly isMidway: boolean
}

function decide(
  ready: readonly Actor[],
  { current, isMidway }: Before,
  choose: (point: Omit<Decision, 'chosen'>) => string,
): readonly [Actor, Decision] {
  const all = ready.map(({ name }) => name)
  const enabled = isMidway && current !== undefined && all.includes(current) ? [current] : all
  const last = ready.find(({ name }) => name === current)
  const isBeginning = effectOf(last?.pending[0]?.text ?? '') !== 'ends'
  const isYielding = last?.hasLost === true && isBeginning && enabled.length > 1
  const point = { enabled, current, ...(isYielding && { isYielding }) }
  const chosen = choose(point)
  const actor = ready.find(({ name }) => name === chosen) ?? ready.find(({ name }) => name === enabled[0])
  if (actor === undefined) throw new TypeError('nobody can take a step')
  return [actor, { ...point, chosen: actor.name }]
}

/** How long an answer is waited for before the server is asked whether the statement waits. */
const lookAfterMs = 3

/** Waits until nobody moves by itself, and somebody can take a step. */
async function untilTurn(stage: Stage): Promise<'turn' | Played['ending']> {
  const { gate, look, patienceMs, hangMs, signal } = stage
  let movedAt = performance.now()
  let { version } = gate
  for (;;) {
    if (signal?.aborted === true) return 'aborted'
    const isOver = gate.actors.every(({ isDone }) => isDone)
    gate.noteStuck()
    const isMoving = gate.actors.some((actor) => actor.isMoving(gate.version, patienceMs))
    if (isOver || (!isMoving && gate.actors.some(({ isReady }) => isReady))) {
      if (!(await isCalm(gate))) continue
      noteAway(stage)
      return isOver ? 'over' : 'turn'
    }
    if (!isMoving && hasLeft(stage)) return 'left'
    if (gate.version !== version) {
      ;({ version } = gate)
      movedAt = performance.now()
    }
    if (performance.now() - movedAt > hangMs) {
      await look() // who waits for whom is told, and may not have been seen yet
      if (gate.version === version) return 'hang'
    }
    const hasChanged = await gate.change(isMoving ? lookAfterMs : 5 * lookAfterMs)
    if (!hasChanged && gate.actors.some(({ running }) => running.size > 0)) await look()
  }
}

/**
 * Whoever has ended may go on with what it does not await, and who was passed over may have waited for what has just
 * been done: what follows an answer at once is here after one turn.
 */
async function isCalm(gate: Gate): Promise<boolean> {
  if (!gate.actors.some(({ isDone, isAway }) => isDone || isAway)) return true
  const { changes } = gate
  await new Promise((resolve) => setImmediate(resolve))
  return gate.changes === changes
}

function noteAway({ gate, patienceMs }: Stage): void {
  for (const { name, isAway } of gate.actors) {
    if (isAway)
      gate.notes.add(
        `${name} sent nothing for ${patienceMs} ms, and the others went on: it waits for one of them in this process, or it is slow and patienceMs too short`,
      )
  }
}

/** What floats behind the end of an actor may still end its transaction: it is given as much time as other code. */
function hasLeft({ gate, patienceMs }: Stage): boolean {
  const now = performance.now()
  return [...gate.loans.values()].some(
    ({ actor, isOpen }) => isOpen && actor.isDone && now - actor.busySince > patienceMs,
  )
}
