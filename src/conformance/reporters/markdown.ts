import type { MatrixCell, Report } from '../report.ts'
import { showDuration } from './duration.ts'
import {
  amount,
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
  verdictMeanings,
  type Finding,
  type ReasonGroup,
} from './findings.ts'
import { fenced, inHtml, inline, markdownTable } from './markdown-text.ts'
import { timelineOf } from './timeline.ts'

/** For a comment on GitHub: the matrix as a table, and each broken law with its steps, folded. */
export function markdown(report: Report): string {
  const sections = [
    `# ${titleOf(report)}`,
    `${inline(summaryOf(report))}. Holdfast ${inline(report.version)}, ${inline(report.startedAt)}.`,
    matrix(report),
    section('Broken', findingsOf(report, 'broken').map(brokenLaw)),
    section('Not run to the end', failures(report)),
    section('Refused', reasons(report, 'refused')),
    section('Not promised', reasons(report, 'not-promised')),
    notes(report),
  ]
  return `${sections.filter((text) => text !== '').join('\n\n')}\n`
}

export function titleOf(report: Report): string {
  const { broken, refused, holds, notRun, notBegun, ...counts } = countsOf(report)
  const unfinished = notRun + notBegun
  if (broken > 0) return `Holdfast: ${amount(broken, 'law')} broken`
  if (unfinished > 0) return `Holdfast: ${amount(unfinished, 'database')} not run to the end`
  const rest = [
    ...(refused === 0 ? [] : [`${refused} refused`]),
    ...(counts['not-promised'] === 0 ? [] : [`${counts['not-promised']} not promised`]),
  ]
  if (rest.length === 0) return 'Holdfast: all laws hold'
  return `Holdfast: ${[`${amount(holds, 'law')} ${holds === 1 ? 'holds' : 'hold'}`, ...rest].join(', ')}`
}

function section(title: string, parts: readonly string[]): string {
  return parts.length === 0 ? '' : [`## ${title}`, ...parts].join('\n\n')
}

function matrix(report: Report): string {
  const subjects = subjectsOf(report)
  const features = featuresOf(report)
  if (features.length === 0) return ''
  const head = subjects.map(({ name, server }) => [name, server].filter(Boolean).map(inline).join('<br>'))
  const rows = features.map((feature) =>
    [feature as string].concat(subjects.map((subject) => cell(cellOf(subject, feature)))),
  )
  return `${markdownTable([['feature', ...head], ...rows])}\n\n${legend}`
}

function cell(one: MatrixCell): string {
  return one.state === 'broken' ? `❌ **${cellText(one)}**` : cellText(one)
}

function brokenLaw({ subject, result }: Finding): string {
  const steps = timelineOf(result.trace, 110)
  return [
    `<details>\n<summary>❌ <b>${inHtml(result.id)}</b> on ${inHtml(subject.name)}: ${inHtml(result.says)}</summary>`,
    `Seen after ${showDuration(result.tookMs)}${result.runs > 1 ? `, in ${result.runs} runs` : ''}:`,
    fenced(result.reason ?? 'nothing was noted'),
    ...(steps.length === 0 ? [] : [fenced(steps.join('\n'))]),
    '</details>',
  ].join('\n\n')
}

function failures(report: Report): readonly string[] {
  return subjectsOf(report).flatMap(({ name, error }) =>
    error === undefined ? [] : [`**${inline(name)}**\n\n${fenced(error)}`],
  )
}

function reasons(report: Report, verdict: 'refused' | 'not-promised'): readonly string[] {
  const groups = groupedByReason(findingsOf(report, verdict))
  if (groups.length === 0) return []
  return [verdictMeanings[verdict], groups.flatMap(reasonLines).join('\n')]
}

function reasonLines(group: ReasonGroup): readonly string[] {
  const subjects = lawsBySubject(group)
  return [
    `- ${inline(group.reason)}`,
    ...subjects.map(([name, laws]) => `  - ${inline(name)}: ${laws.map(inline).join(', ')}`),
  ]
}

/** Why a cell is not native: below the table, since in it there is no room. */
function notes(report: Report): string {
  const lines = subjectsOf(report).flatMap((subject) =>
    subject.matrix.flatMap(({ feature, state, note }) =>
      note === undefined ? [] : [`- ${inline(subject.name)}, ${feature}: ${state}; ${inline(note)}`],
    ),
  )
  if (lines.length === 0) return ''
  return ['<details>\n<summary>Notes on the table</summary>', lines.join('\n'), '</details>'].join('\n\n')
}
