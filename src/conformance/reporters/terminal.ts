import type { Feature } from '../feature.ts'
import type { Report } from '../report.ts'
import { showDuration } from './duration.ts'
import {
  cellOf,
  cellText,
  countsOf,
  featuresOf,
  findingsOf,
  groupedByReason,
  lawsBySubject,
  legend,
  subjectsOf,
  summaryOf,
  type Finding,
  type NamedSubject,
  type ReasonGroup,
} from './findings.ts'
import { painter, stateStyles, type Paint } from './paint.ts'
import { textTable, type Screen, type TextCell } from './text-table.ts'
import { timelineOf } from './timeline.ts'
import { visible, visibleLines, wrap } from './visible.ts'

/** For people at a screen: the matrix, then what is broken, refused or was not run, then one line that sums it up. */
export function terminal(report: Report, screen: Screen): string {
  const paint = painter(screen.hasColour)
  const sections = [
    matrix(report, screen.columns, paint),
    findingsOf(report, 'broken').flatMap((finding) => brokenLaw(finding, screen.columns, paint)),
    refused(report, screen.columns, paint),
    notRun(report, screen.columns, paint),
    [summary(report, paint)],
  ]
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join('\n').trimEnd()}\n`)
    .join('\n')
}

const headWidth = 16

function matrix(report: Report, columns: number, paint: Paint): readonly string[] {
  const subjects = subjectsOf(report)
  const features = featuresOf(report)
  if (features.length === 0) return []
  const heads = headsOf(subjects).map((lines) => lines.flatMap((line) => wrap(visible(line), headWidth)))
  const height = Math.max(...heads.map((head) => head.length))
  const headRows = Array.from({ length: height }, (_, index): readonly TextCell[] => [
    { text: '' },
    ...heads.map((head): TextCell => ({ text: head[index] ?? '', style: 'bold' })),
  ])
  const rows = features.map((feature) => row(feature, subjects))
  return [...textTable([...headRows, ...rows], columns, paint), '', paint('gray', legend)]
}

/** What a column is called: the server and the way to it, and its whole name where that is not enough. */
function headsOf(subjects: readonly NamedSubject[]): readonly (readonly string[])[] {
  const short = subjects.map(({ server, adapter }) => [server, `through ${adapter}`])
  const isUnclear = new Set(short.map((lines) => lines.join())).size < short.length
  return subjects.map(({ name, server }, index) =>
    isUnclear || server === '' ? [name, server] : (short[index] ?? []),
  )
}

function row(feature: Feature, subjects: readonly NamedSubject[]): readonly TextCell[] {
  const cells = subjects.map((subject): TextCell => {
    const cell = cellOf(subject, feature)
    const text = cell.state === 'broken' ? `!! ${cellText(cell)}` : cellText(cell)
    return { text, style: stateStyles[cell.state] }
  })
  return [{ text: feature }, ...cells]
}

function brokenLaw({ subject, result }: Finding, columns: number, paint: Paint): readonly string[] {
  const runs = result.runs > 1 ? `, run ${result.runs} times` : ''
  return [
    `${paint(['bold', 'red'], 'BROKEN')} ${paint('bold', visible(result.id))} on ${visible(subject.name)}${paint('gray', ` (${showDuration(result.tookMs)}${runs})`)}`,
    ...indented(result.says, columns),
    ...indented(`Seen: ${result.reason ?? 'nothing was noted'}`, columns).map((line) => paint('red', line)),
    ...timelineOf(result.trace, columns).map((line, index) => (index === 0 ? paint('gray', line) : line)),
    '',
  ]
}

function refused(report: Report, columns: number, paint: Paint): readonly string[] {
  const groups = groupedByReason(findingsOf(report, 'refused'))
  if (groups.length === 0) return []
  const lines = groups.flatMap((group) => reasonLines(group, columns, paint))
  return [paint(['bold', 'yellow'], 'Refused'), ...lines]
}

function reasonLines(group: ReasonGroup, columns: number, paint: Paint): readonly string[] {
  const subjects = lawsBySubject(group).flatMap(([name, laws]) =>
    wrap(visible(`${name}: ${laws.join(', ')}`), columns - 4),
  )
  return [...indented(group.reason, columns), ...subjects.map((line) => paint('gray', `    ${line}`))]
}

function notRun(report: Report, columns: number, paint: Paint): readonly string[] {
  const failures = subjectsOf(report).flatMap(({ name, error }) =>
    error === undefined
      ? []
      : [`  ${paint('bold', visible(name))}`].concat(indented(error, columns - 2).map((line) => `  ${line}`)),
  )
  return failures.length === 0 ? [] : [paint(['bold', 'red'], 'Not run to the end'), ...failures]
}

function summary(report: Report, paint: Paint): string {
  const { broken, notRun: failures, notBegun } = countsOf(report)
  return paint(broken + failures + notBegun > 0 ? ['bold', 'red'] : ['bold', 'green'], summaryOf(report))
}

function indented(text: string, columns: number): readonly string[] {
  return wrap(visibleLines(text), columns - 2).map((line) => `  ${line}`)
}
