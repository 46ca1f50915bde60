import { createHash } from 'node:crypto'

import type { Feature } from '../feature.ts'
import type { LawResult, Report } from '../report.ts'
import {
  cellOf,
  cellText,
  countsOf,
  featuresOf,
  legend,
  subjectsOf,
  summaryOf,
  verdictMeanings,
  type NamedSubject,
} from './findings.ts'
import { anchorOf, subjectSection, verdictWords } from './html-law.ts'
import { style } from './html-style.ts'
import { Markup, markup } from './markup.ts'
import { titleOf } from './markdown.ts'
import { visible } from './visible.ts'

/**
 * One page that needs nothing else, to look at or to attach to a pull request.
 *
 * It has no script, and forbids every one: what the report quotes of servers cannot become one.
 */
export function html(report: Report): string {
  const subjects = subjectsOf(report)
  const { broken, notRun, notBegun } = countsOf(report)
  const page = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta http-equiv="Content-Security-Policy" content="${policy}"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="referrer" content="no-referrer"/>
<title>${titleOf(report)}</title>
<style>${new Markup(style)}</style>
</head>
<body>
<h1>${titleOf(report)}</h1>
<p class="banner ${broken + notRun + notBegun > 0 ? 'broken' : 'holds'}">${summaryOf(report)}</p>
<p class="facts">Holdfast ${visible(report.version)} · ${visible(report.startedAt)} · seed ${report.seed}</p>
${meanings(report)}${matrix(report, subjects)}
${lawTable(subjects)}
<h2>Each law</h2>
${filters(report)}
<main>
${subjects.map(subjectSection)}
</main>
</body>
</html>
`
  return page.text
}

/** What the verdicts of this report mean that do not explain themselves. */
function meanings(report: Report): readonly Markup[] {
  const counts = countsOf(report)
  return (['refused', 'not-promised'] as const)
    .filter((verdict) => counts[verdict] > 0)
    .map((verdict) => markup`<p class="facts">${verdictMeanings[verdict]}</p>\n`)
}

/** Nothing is loaded and nothing runs; of styles only ours counts. */
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

function matrix(report: Report, subjects: readonly NamedSubject[]): Markup | undefined {
  const features = featuresOf(report)
  if (features.length === 0) return undefined
  const rows = features.map(
    (
      feature,
    ) => markup`<tr><th scope="row"><code>${feature}</code></th>${subjects.map((subject, index) => cell(subject, feature, index))}</tr>
`,
  )
  return markup`<div class="scroll" tabindex="0"><table>
<thead><tr><th scope="col">feature</th>${heads(subjects)}</tr></thead>
<tbody>
${rows}</tbody>
</table></div>
<p class="facts">${legend}</p>`
}

function heads(subjects: readonly NamedSubject[]): readonly Markup[] {
  return subjects.map(
    ({ name, server }, index) =>
      markup`<th scope="col"><a href="#subject-${index + 1}">${visible(name)}</a><small>${visible(server)}</small></th>`,
  )
}

/** Leads to the law that decides it: a broken one where there is one. */
function cell(subject: NamedSubject, feature: Feature, index: number): Markup {
  const one = cellOf(subject, feature)
  const about = subject.results.filter((result) => result.features.includes(feature))
  const law = about.find(({ verdict }) => verdict === one.state) ?? about[0]
  const text = cellText(one)
  const title = one.note === undefined ? undefined : markup` title="${visible(one.note)}"`
  const content = law === undefined ? text : markup`<a href="#${anchorOf(index, law.id)}">${text}</a>`
  return markup`<td class="state ${one.state}"${title}>${content}</td>`
}

/** Each law beside each database. */
function lawTable(subjects: readonly NamedSubject[]): Markup {
  const laws = new Map(
    subjects.flatMap(({ results }) => results.map((result) => [result.id, result] as const)),
  )
  const rows = [...laws.values()].map(
    (
      law,
    ) => markup`<tr><th scope="row" title="${visible(law.says)}"><code>${visible(law.id)}</code></th>${subjects.map(
      ({ results }, index) =>
        verdictCell(
          results.find(({ id }) => id === law.id),
          index,
        ),
    )}</tr>
`,
  )
  return markup`<details class="notes"><summary>All laws on all databases</summary><div class="scroll" tabindex="0"><table>
<thead><tr><th scope="col">law</th>${heads(subjects)}</tr></thead>
<tbody>
${rows}</tbody>
</table></div></details>`
}

function verdictCell(result: LawResult | undefined, index: number): Markup {
  if (result === undefined) return markup`<td class="untested">not run</td>`
  const { id, verdict } = result
  return markup`<td class="verdict ${verdict}"><a href="#${anchorOf(index, id)}">${verdictWords[verdict]}</a></td>`
}

/** They stand before what they filter, since a style sheet can only look forward. */
function filters(report: Report): Markup {
  const counts = countsOf(report)
  const verdicts = (Object.keys(verdictWords) as LawResult['verdict'][]).map(
    (
      verdict,
    ) => markup`<input class="filter" type="checkbox" id="show-${verdict}" checked=""/><label for="show-${verdict}">${verdict.replace('-', ' ')} ${counts[verdict]}</label>
`,
  )
  const byFeature = featuresOf(report).map(
    (
      feature,
    ) => markup`<input class="filter" type="radio" name="only" id="only-${feature}"/><label for="only-${feature}">${feature}</label>
`,
  )
  return markup`${verdicts}<br/>
<input class="filter" type="radio" name="only" id="only-all" checked=""/><label for="only-all">all features</label>
${byFeature}`
}
