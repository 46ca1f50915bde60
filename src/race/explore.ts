import { LockUsageError } from '../core/errors.ts'
import { libraryOf } from '../adapters/libraries.ts'
import { inTurn } from '../adapters/turn.ts'
import { holdfastVersion } from '../conformance/version.ts'
import { preload } from '../locks/preload.ts'
import { beneath } from './beneath.ts'
import { Gate } from './gate.ts'
import { createLook } from './look.ts'
import type { Observer } from './observer.ts'
import { checkOptions, type Exploration, type ExploreOptions } from './options.ts'
import type { RaceReport } from './report.ts'
import type { Theatre } from './run-schedule.ts'
import { search } from './search.ts'
import type { Seam } from './seam.ts'
import { seams } from './seams.ts'

/**
 * Runs functions of yours in every order that their statements can take, on your own database, and tells which order
 * breaks what they promise. Those with the fewest switches come first, and the first that fails ends the exploration.
 *
 * Nothing of it is left behind: `db` is as it was, and what an actor has left open is ended. Rejects with
 * {@link LockUsageError} when it cannot explore what it is given; what it finds is in the report, and no rejection.
 * Explorations of one process take turns: the methods of a driver can be replaced only once at a time.
 */
export async function explore<A extends string>(options: ExploreOptions<A>): Promise<RaceReport> {
  const checked = checkOptions(options)
  // the first schedule is to have the steps of all others
  preload()
  const exploration = { ...checked, db: beneath(checked.db) }
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
    `${library === undefined ? 'is nothing whose statements can be held back' : `is ${library.what}`}: pass what your functions use of ${known}; for Prisma the pool beneath it`,
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
