import { LockUsageError } from '../core/errors.ts'
import { libraryOf } from '../adapters/libraries.ts'
import { inTurn } from '../adapters/turn.ts'
import { seededRandom } from '../conformance/random.ts'
import { holdfastVersion } from '../conformance/version.ts'
import { Gate } from './gate.ts'
import { createLook } from './look.ts'
import type { Observer } from './observer.ts'
import { checkOptions, type Exploration, type ExploreOptions } from './options.ts'
import type { RaceReport, ScheduleResult } from './report.ts'
import { runSchedule, type Ran, type Theatre } from './run-schedule.ts'
import { isSerial, Search, stepsOf, usualChoice } from './schedule.ts'
import type { Seam } from './seam.ts'
import { seams } from './seams.ts'
import type { Choose } from './play.ts'

/**
 * Runs functions of yours in every order that their statements can take, on your own database, and tells which order
 * breaks what they promise. Those with the fewest switches come first, and the first that fails ends the exploration.
 *
 * Nothing of it is left behind: `db` is as it was, and what an actor has left open is ended. Rejects with
 * {@link LockUsageError} when it cannot explore what it is given; what it finds is in the report, and no rejection.
 * Explorations of one process take turns: the methods of a driver can be replaced only once at a time.
 */
export async function explore<A extends string>(options: ExploreOptions<A>): Promise<RaceReport> {
  const exploration = checkOptions(options)
  const seam = seamOf(exploration.db)
  const startedAt = new Date().toISOString()
  const began = performance.now()
  const found = await inTurn(seams, () => onStage(exploration, seam, search))
  return {
    version: holdfastVersion,
    startedAt,
    tookMs: Math.round(performance.now() - began),
    seed: exploration.seed,
    driver: seam.driver,
    actors: Object.keys(exploration.actors),
    ...found,
    notes: [...found.notes, ...(seam.notes ?? [])],
  }
}

function seamOf(db: unknown): Seam {
  const seam =
    typeof db === 'object' || typeof db === 'function'
      ? seams.find(({ is }) => db !== null && is(db))
      : undefined
  if (seam !== undefined) return seam
  const library = libraryOf(db)
  const known = seams.map(({ driver }) => driver).join(', ')
  throw new LockUsageError(
    'db',
    `${library === undefined ? 'is nothing whose statements can be held back' : `is ${library.what}`}: pass what your functions use of ${known}; for an ORM the pool beneath it`,
  )
}

/** The object is put back, and the observer's connection closed, whatever happens. */
async function onStage<T>(
  exploration: Exploration,
  seam: Seam,
  work: (theatre: Theatre) => Promise<T>,
): Promise<T> {
  const gate = new Gate()
  const { db, patienceMs, hangMs, signal } = exploration
  const observer: Observer | undefined = seam.observe?.(db)
  try {
    await observer?.look()
    const putBack = await seam.install(db, gate)
    try {
      const look = createLook(gate, observer, patienceMs)
      return await work({ ...exploration, gate, look, patienceMs, hangMs, signal, observer, seam })
    } finally {
      gate.abandon() // whoever is left over is refused in the next one, too
      putBack()
    }
  } finally {
    await observer?.close()
  }
}

type Found = Omit<RaceReport, 'version' | 'startedAt' | 'tookMs' | 'seed' | 'driver' | 'actors'>

/** Of the schedules that may be run, this part is for those that are run in order; the rest is drawn. */
const orderedPart = 0.75

class Tally {
  schedules = 0
  known = 1
  failure: ScheduleResult | undefined
  mostSwitches = 0
  /** The actors that have sent nothing in any schedule. */
  readonly unseen: Set<string>

  constructor(actors: readonly string[]) {
    this.unseen = new Set(actors)
  }
}

async function search(theatre: Theatre): Promise<Found> {
  const { schedule, actors, seed, schedules, switches, timeMs, signal } = theatre
  const tally = new Tally(Object.keys(actors))
  const tree = new Search()
  const deadline = performance.now() + timeMs
  const isOver = (most: number): boolean =>
    tally.failure !== undefined ||
    signal?.aborted === true ||
    tally.schedules >= most ||
    performance.now() > deadline
  if (schedule !== undefined) {
    const steps = stepsOf(schedule, Object.keys(actors))
    await runOne(theatre, tally, follow(steps))
    return findings(theatre, tally, tree)
  }
  const inOrder = Math.ceil(schedules * orderedPart)
  while (!isOver(inOrder)) {
    const start = tree.next(switches)
    if (start === undefined) break
    const ran = await runOne(theatre, tally, follow(start))
    tree.ran(start, ran.decisions)
    tally.known = tally.schedules + tree.left
    theatre.onProgress({ schedules: tally.schedules, known: tally.known, last: ran.result })
  }
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

/** The steps at the start as they are told, and then as everybody goes on for as long as possible. */
function follow(steps: readonly string[]): Choose {
  return (point, index) => {
    const told = steps[index]
    return told !== undefined && point.enabled.includes(told) ? told : usualChoice(point)
  }
}

async function runOne(theatre: Theatre, tally: Tally, choose: Choose): Promise<Ran> {
  const ran = await runSchedule(theatre, choose)
  tally.schedules += 1
  tally.mostSwitches = Math.max(tally.mostSwitches, ran.result.switches)
  if (ran.result.outcome !== 'holds') tally.failure ??= ran.result
  for (const { actor } of ran.result.trace) tally.unseen.delete(actor)
  return ran
}

function findings(theatre: Theatre, tally: Tally, tree: Search): Found {
  const { failure, schedules, known, unseen } = tally
  const isAlone = theatre.schedule !== undefined
  const isComplete = !isAlone && tree.left === 0 && theatre.seam.isSynchronous !== true
  const verdict = verdictOf(tally, theatre)
  // of orders that cannot be chosen only those one after the other are sure
  const mostHere = theatre.seam.isSynchronous === true ? 0 : Infinity
  const notes = [...unseen].map(
    (name) => `${name} sent no statement through db: what it does elsewhere, with another pool, is not seen`,
  )
  if (verdict === 'not-a-race') notes.unshift(notARace)
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
    notes,
  }
}

const notARace = 'this is no race: the actors fail when they run one after the other, too'

function verdictOf({ failure, unseen }: Tally, { signal }: Theatre): RaceReport['verdict'] {
  if (failure?.outcome === 'hang') return 'hang'
  if (failure !== undefined) return isSerial(failure.name) ? 'not-a-race' : 'race'
  if (signal?.aborted === true) return 'interrupted'
  return unseen.size > 0 ? 'unseen' : 'none'
}
