import { reporters } from '../conformance/reporters/reporters.ts'
import type { LawResult, Report } from '../conformance/report.ts'
import type { RaceReport } from './report.ts'

/** A report as one page that needs nothing else, with the failing schedule as a drawing. */
export function raceHtml(report: RaceReport): string {
  return reporters.html(asReport(report), { columns: 120, hasColour: false })
}

/** In the shape of a run of the laws, whose one law is the user's own. */
function asReport(report: RaceReport): Report {
  const { version, startedAt, tookMs, seed, driver, actors, failure, schedules, isComplete, notes } = report
  const isFine = report.verdict === 'none'
  const reason = [failure?.reason, ...notes].filter((one) => one !== undefined).join('; ')
  const law: LawResult = {
    id: failure?.name ?? 'every order',
    says: `the invariant holds in every order of ${actors.join(', ')}${isComplete ? '' : ' that was run'}`,
    features: [],
    verdict: isFine ? 'holds' : 'broken',
    ...(reason !== '' && { reason }),
    tookMs,
    runs: schedules,
    trace: failure?.trace ?? [],
  }
  const title = `race of ${actors.join(', ')}`
  const subject = { title, adapter: driver, dialect: '', version: '', tookMs, results: [law], matrix: [] }
  return { version, startedAt, tookMs, seed, subjects: [subject] }
}
