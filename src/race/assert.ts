import { explore } from './explore.ts'
import type { ExploreOptions } from './options.ts'
import type { RaceReport } from './report.ts'
import { describeRace } from './text.ts'

/** An exploration found something: the message is what {@link describeRace} says of it, timeline included. */
export class RaceError extends Error {
  override readonly name = 'RaceError'
  readonly report: RaceReport

  constructor(report: RaceReport) {
    super(describeRace(report))
    this.report = report
  }
}

/**
 * Explores, and rejects with {@link RaceError} unless every schedule that was run is right. For tests.
 *
 * It also rejects when nothing is known of an actor: one that sent no statement through `db`, or failed in every schedule.
 *
 * Gives the report, which says whether that was every schedule there is.
 */
export async function assertNoRace<A extends string>(options: ExploreOptions<A>): Promise<RaceReport> {
  const report = await explore(options)
  if (report.verdict !== 'none') throw new RaceError(report)
  return report
}
