import { features, type Feature } from '../feature.ts'
import type { LawResult, MatrixCell, Report, SubjectReport, Verdict } from '../report.ts'
import { showDuration } from './duration.ts'

/** A database of a report under a name that no other one of the report has. */
export interface NamedSubject extends SubjectReport {
  readonly name: string
  /** The dialect and its version; empty when the database was not reached. */
  readonly server: string
}

export function subjectsOf({ subjects }: Report): readonly NamedSubject[] {
  return subjects.map((subject, index) => {
    const isTaken = subjects.slice(0, index).some(({ title }) => title === subject.title)
    return {
      ...subject,
      name: isTaken ? `${subject.title} (${index + 1})` : subject.title,
      server: `${subject.dialect} ${subject.version}`.trim(),
    }
  })
}

/** A law as one database answered it. */
export interface Finding {
  readonly subject: NamedSubject
  readonly result: LawResult
}

export function findingsOf(report: Report, verdict: Verdict): readonly Finding[] {
  return subjectsOf(report).flatMap((subject) =>
    subject.results.filter((result) => result.verdict === verdict).map((result) => ({ subject, result })),
  )
}

/** Laws that share the reason why they are refused, or not promised. */
export interface ReasonGroup {
  readonly reason: string
  readonly findings: readonly Finding[]
}

export function groupedByReason(findings: readonly Finding[]): readonly ReasonGroup[] {
  const groups = new Map<string, Finding[]>()
  for (const finding of findings) {
    const reason = finding.result.reason ?? 'no reason was given'
    groups.set(reason, [...(groups.get(reason) ?? []), finding])
  }
  return [...groups].map(([reason, members]) => ({ reason, findings: members }))
}

/** One line for each database of a group: its name, and the laws. */
export function lawsBySubject({ findings }: ReasonGroup): readonly (readonly [string, readonly string[]])[] {
  const names = [...new Set(findings.map(({ subject }) => subject.name))]
  return names.map((name) => [
    name,
    findings.filter(({ subject }) => subject.name === name).map(({ result }) => result.id),
  ])
}

/** The features that any database of the report says something about, in the order of all matrices. */
export function featuresOf({ subjects }: Report): readonly Feature[] {
  return features.filter((feature) =>
    subjects.some(({ matrix }) => matrix.some((cell) => cell.feature === feature)),
  )
}

/** What is known of a feature on a database. A database that was not reached is untested. */
export function cellOf({ matrix }: SubjectReport, feature: Feature): MatrixCell {
  return matrix.find((cell) => cell.feature === feature) ?? { feature, state: 'untested', held: 0, broken: 0 }
}

/** A cell in words: its state, and how many laws were seen to hold. What is broken shouts, also without colour. */
export function cellText({ state, held, broken }: MatrixCell): string {
  if (state === 'broken') return `BROKEN ${broken}/${broken + held}`
  return held === 0 ? state : `${state} ${held}`
}

export const legend =
  'The number says how many laws hold; for BROKEN, how many of those that were run do not.'

/** What a reader has to know about laws that neither hold nor are broken. */
export const verdictMeanings: Readonly<Record<'refused' | 'not-promised', string>> = {
  refused:
    'Refused: this server does not give what the law is about. Asking for it is an error that says why, so nothing is weaker than it looks.',
  'not-promised':
    'Not promised: the law makes no promise about a database like this one, so it was not run here. The reason stands with each law.',
}

export type Counts = Readonly<Record<Verdict | 'laws' | 'notRun' | 'notBegun', number>>

export function countsOf({ subjects }: Pick<Report, 'subjects'>): Counts {
  const results = subjects.flatMap((subject) => subject.results)
  const count = (verdict: Verdict): number => results.filter((result) => result.verdict === verdict).length
  return {
    laws: results.length,
    holds: count('holds'),
    broken: count('broken'),
    refused: count('refused'),
    'not-promised': count('not-promised'),
    notRun: subjects.filter(({ error, notBegun }) => error !== undefined && notBegun !== true).length,
    notBegun: subjects.filter(({ notBegun }) => notBegun === true).length,
  }
}

/** All in one line. */
export function summaryOf(report: Report): string {
  const counts = countsOf(report)
  const parts = [
    `${amount(counts.laws, 'law')} on ${amount(report.subjects.length, 'database')}: ${counts.holds} hold`,
    `${counts.broken} broken`,
    `${counts.refused} refused`,
    `${counts['not-promised']} not promised`,
    ...(counts.notRun === 0 ? [] : [`${amount(counts.notRun, 'database')} not run to the end`]),
    ...(counts.notBegun === 0 ? [] : [`${amount(counts.notBegun, 'database')} not begun`]),
  ]
  return `${parts.join(', ')}; took ${showDuration(report.tookMs)}, seed ${report.seed}`
}

export function amount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
