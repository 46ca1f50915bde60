import type { LawResult, Report } from '../report.ts'
import { inSeconds } from './duration.ts'
import { countsOf, subjectsOf, type NamedSubject } from './findings.ts'
import { markup, type Markup } from './markup.ts'
import { timelineOf } from './timeline.ts'
import { visible } from './visible.ts'

/**
 * JUnit's XML, as build servers read it: a test suite for each database, a test case for each law.
 *
 * A database on which the laws did not run to their end has one more test case, which is an error. What is refused or
 * not promised is skipped.
 */
export function junit(report: Report): string {
  const counts = countsOf(report)
  const page = markup`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="holdfast verify" tests="${counts.laws + counts.notRun}" failures="${counts.broken}" errors="${counts.notRun}" skipped="${counts.refused + counts['not-promised']}" time="${inSeconds(report.tookMs)}">
${subjectsOf(report).map((subject, index) => suite(report, subject, index))}</testsuites>
`
  return page.text
}

function suite(report: Report, subject: NamedSubject, index: number): Markup {
  const counts = countsOf({ subjects: [subject] })
  const name = visible(subject.name)
  return markup`  <testsuite id="${index}" name="${name}" tests="${counts.laws + counts.notRun}" failures="${counts.broken}" errors="${counts.notRun}" skipped="${counts.refused + counts['not-promised']}" time="${inSeconds(subject.tookMs)}" timestamp="${visible(report.startedAt)}">
    <properties>
${properties(report, subject)}    </properties>
${subject.results.map((result) => testCase(subject, result))}${failureOf(subject)}  </testsuite>
`
}

function properties(
  { version, seed }: Report,
  { dialect, version: server, adapter }: NamedSubject,
): readonly Markup[] {
  return Object.entries({ holdfast: version, seed: String(seed), dialect, version: server, adapter }).map(
    ([name, value]) => markup`      <property name="${name}" value="${visible(value)}"/>\n`,
  )
}

function testCase(subject: NamedSubject, result: LawResult): Markup {
  const name = visible(`${result.id}: ${result.says}`)
  const content = contentOf(result)
  const start = markup`    <testcase classname="${classOf(subject)}" name="${name}" time="${inSeconds(result.tookMs)}"`
  return content === undefined ? markup`${start}/>\n` : markup`${start}>\n      ${content}\n    </testcase>\n`
}

/** A dot would make a package of it. */
function classOf({ name }: NamedSubject): string {
  return `holdfast.${visible(name).replaceAll('.', '_')}`
}

function contentOf(result: LawResult): Markup | undefined {
  const reason = result.reason ?? ''
  switch (result.verdict) {
    case 'holds':
      return undefined
    case 'broken':
      return markup`<failure type="broken" message="${visible(reason)}">${bodyOf(result)}</failure>`
    case 'refused':
      return markup`<skipped message="${visible(`refused: ${reason}`)}"/>`
    case 'not-promised':
      return markup`<skipped message="${visible(`not promised: ${reason}`)}"/>`
  }
}

function bodyOf({ says, reason, trace }: LawResult): string {
  return [says, `Seen: ${reason ?? 'nothing was noted'}`, '', ...timelineOf(trace, 120)].join('\n')
}

function failureOf(subject: NamedSubject): Markup | undefined {
  const { error } = subject
  if (error === undefined) return undefined
  return markup`    <testcase classname="${classOf(subject)}" name="the laws can be run to their end" time="0.000">
      <error type="not run" message="${visible(error)}">${error}</error>
    </testcase>
`
}
