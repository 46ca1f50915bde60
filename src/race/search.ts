import { seededRandom } from '../conformance/random.ts'
import type { Choose } from './play.ts'
import type { RaceReport, ScheduleResult } from './report.ts'
import { runSchedule, threw, type Ran, type Theatre } from './run-schedule.ts'
import { isSerial, nameOf, Search, stepsOf, usualChoice } from './schedule.ts'

/** What the search itself tells. */
type Found = Omit<RaceReport, 'version' | 'startedAt' | 'tookMs' | 'seed' | 'driver' | 'actors'>

/** Of the schedules that may be run, this part is for those that are run in order; the rest is drawn. */
const orderedPart = 0.75

class Tally {
  schedules = 0
  /** Those that were run before the search began anew. */
  forgotten = 0
  known = 1
  failure: ScheduleResult | undefined
  mostSwitches = 0
  /** The actors that have sent nothing in any schedule. */
  readonly unseen: Set<string>
  readonly #mustSucceed: readonly string[]
  /** In one order alone somebody may lose a conflict, and never has the chance to win it. */
  readonly #mayLose: boolean
  /** Those of them that have not succeeded yet, and what they threw last. */
  readonly #failing = new Map<string, string | undefined>()

  constructor({ actors, mayFail, schedule, conflicts }: Theatre) {
    const names = Object.keys(actors)
    this.unseen = new Set(names)
    this.#mustSucceed = names.filter((name) => !mayFail.includes(name))
    this.#mayLose = schedule !== undefined && conflicts === 'allow'
    this.forget()
  }

  forget(): void {
    this.forgotten += this.schedules
    this.schedules = 0
    this.mostSwitches = 0
    // whoever has succeeded has to do so again
    for (const name of this.#mustSucceed) if (!this.#failing.has(name)) this.#failing.set(name, undefined)
  }

  note({ result: { trace, results }, lost }: Ran): void {
    for (const { actor } of trace) this.unseen.delete(actor)
    for (const name of this.#failing.keys()) {
      const words = results[name]
      const isExcused = this.#mayLose && lost.includes(name)
      if (words?.startsWith(threw) === true && !isExcused) this.#failing.set(name, words)
      else if (words !== undefined) this.#failing.delete(name)
    }
  }

  /** The actors that have failed in every schedule, and are to succeed. */
  get failing(): ReadonlyMap<string, string> {
    const failing = new Map<string, string>()
    for (const [name, words] of this.#failing) if (words !== undefined) failing.set(name, words)
    return failing
  }
}

/** Runs one schedule after the other, until there is none left, one fails, or a limit is reached. */
export async function search(theatre: Theatre): Promise<Found> {
  const { schedule, actors, seed, schedules, switches } = theatre
  const tally = new Tally(theatre)
  if (schedule !== undefined) {
    const steps = stepsOf(schedule, Object.keys(actors))
    const ran = await runOne(theatre, tally, follow(steps))
    if (!ran.isCut && !isAsTold(ran, steps)) theatre.gate.notes.add(otherOrder(steps, ran))
    return findings(theatre, tally, new Search())
  }
  const deadline = performance.now() + theatre.timeMs
  const isOver = (most: number): boolean =>
    tally.failure !== undefined ||
    theatre.signal?.aborted === true ||
    tally.forgotten + tally.schedules >= most ||
    performance.now() > deadline
  const tree = await inOrder(theatre, tally, () => isOver(Math.ceil(schedules * orderedPart)))
  const random = seededRandom(seed)
  const isBounded = switches !== Infinity
  while (!isBounded && tree.left > 0 && !isOver(schedules)) {
    const ran = await runOne(
      theatre,
      tally,
      ({ enabled }) => enabled[Math.floor(random() * enabled.length)] ?? '',
    )
    theatre.onProgress({ schedules: tally.schedules, known: tally.known, last: ran.result })
  }
  return findings(theatre, tally, tree)
}

/** An application may fill its caches in the first schedule, and we ours: then those that follow are others. */
const mostBeginnings = 3

/** Runs the schedules with the fewest switches first. Gives what is left of them. */
async function inOrder(theatre: Theatre, tally: Tally, isOver: () => boolean): Promise<Search> {
  const { gate, switches, onProgress } = theatre
  let tree = new Search()
  let beginnings = 1
  const seen = new Map<string, string>()
  while (!isOver()) {
    const start = tree.next(switches)
    if (start === undefined) break
    const { readsBeginTime } = gate
    const ran = await runOne(theatre, tally, follow(start))
    const isSame = ran.isCut || (isAsTold(ran, start) && isAsBefore(ran, seen))
    if (ran.isCut) tree.putBack(start)
    else if (gate.readsBeginTime !== readsBeginTime || (!isSame && beginnings < mostBeginnings)) {
      // somebody may come between BEGIN and what follows from now on, or the actors do something else than they did
      tree = new Search()
      seen.clear()
      beginnings += isSame ? 0 : 1
      tally.forget()
    } else {
      tree.ran(start, ran.decisions)
      if (!isSame) gate.doubts.add(changing)
    }
    tally.known = tally.schedules + tree.left
    onProgress({ schedules: tally.schedules, known: tally.known, last: ran.result })
  }
  return tree
}

/** The steps at the start as they are told, and then as everybody goes on for as long as possible. */
function follow(steps: readonly string[]): Choose {
  return (point, index) => {
    const told = steps[index]
    return told !== undefined && point.enabled.includes(told) ? told : usualChoice(point)
  }
}

function isAsTold({ decisions }: Ran, steps: readonly string[]): boolean {
  return steps.every((step, index) => decisions[index]?.chosen === step)
}

/** Behind the same steps the same actors have to be able to go on. Notes what was seen. */
function isAsBefore({ decisions }: Ran, seen: Map<string, string>): boolean {
  return decisions.every(({ enabled }, index) => {
    const steps = nameOf(decisions.slice(0, index))
    const before = seen.get(steps)
    seen.set(steps, nameOfAll(enabled))
    return before === undefined || before === nameOfAll(enabled)
  })
}

function nameOfAll(actors: readonly string[]): string {
  return actors.join(' ')
}

function otherOrder(steps: readonly string[], { result }: Ran): string {
  return `the order ${steps.join(' ')} is not possible: ${result.name} was run instead`
}

const changing =
  'an actor did something else than before in the same order: what it does depends on more than the database, and these are not all orders'

async function runOne(theatre: Theatre, tally: Tally, choose: Choose): Promise<Ran> {
  const ran = await runSchedule(theatre, choose)
  tally.schedules += 1
  tally.mostSwitches = Math.max(tally.mostSwitches, ran.result.switches)
  if (ran.result.outcome !== 'holds') tally.failure ??= ran.result
  tally.note(ran)
  return ran
}

function findings(theatre: Theatre, tally: Tally, tree: Search): Found {
  const { failure, schedules, known } = tally
  const isAlone = theatre.schedule !== undefined
  const { doubts } = theatre.gate
  const isSure = doubts.size === 0 && theatre.seam.isSynchronous !== true
  const isComplete = !isAlone && tree.left === 0 && isSure
  const verdict = verdictOf(tally, theatre)
  // of orders that cannot be chosen only those one after the other are sure
  const mostHere = isSure ? Infinity : 0
  return {
    verdict,
    schedules,
    known: Math.max(known, schedules),
    isComplete,
    completeSwitches: isAlone
      ? -1
      : isComplete
        ? tally.mostSwitches
        : Math.min(tree.completeSwitches, mostHere),
    ...(failure && { failure }),
    notes: [
      ...(verdict === 'not-a-race' ? [notARace] : []),
      ...notesOf(tally),
      ...doubts,
      ...theatre.gate.notes,
    ],
  }
}

function notesOf({ unseen, failing, failure }: Tally): readonly string[] {
  const silent = [...unseen].filter((name) => !failing.has(name))
  // a misspelled table fails everywhere, and an invariant about the data alone holds all the same
  return [...silent.map(sendsNothing), ...(failure === undefined ? [...failing].map(failsAlways) : [])]
}

function sendsNothing(name: string): string {
  return `${name} sent no statement through db: what it does elsewhere, with another pool, is not seen`
}

function failsAlways([name, words]: readonly [string, string]): string {
  return `${name} succeeded in no schedule (it ${words}), so nothing is known of what it does to the others: mend it, or the data that reset makes; if it is to be refused, say so with mayFail: ['${name}']`
}

const notARace = 'this is no race: the actors fail when they run one after the other, too'

function verdictOf({ failure, unseen, failing }: Tally, { signal }: Theatre): RaceReport['verdict'] {
  if (failure?.outcome === 'hang') return 'hang'
  if (failure !== undefined) return isSerial(failure.name) ? 'not-a-race' : 'race'
  if (signal?.aborted === true) return 'interrupted'
  if (failing.size > 0) return 'failing'
  return unseen.size > 0 ? 'unseen' : 'none'
}
