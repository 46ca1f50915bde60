import type { LawResult } from '../report.ts'
import { showDuration } from './duration.ts'
import type { NamedSubject } from './findings.ts'
import { drawing, timeOf } from './html-drawing.ts'
import { markup, type Markup } from './markup.ts'
import { endingOf, inOrder } from './timeline.ts'
import { visible } from './visible.ts'

/** Where a law of a database stands in the page. Two laws never share a place: what no anchor may hold is a number. */
export function anchorOf(subjectIndex: number, lawId: string): string {
  const name = lawId.replaceAll(/[^\w.-]/gu, (one) => `~${one.codePointAt(0)?.toString(16)}~`)
  return `law-${subjectIndex + 1}-${name}`
}

export const verdictWords: Readonly<Record<LawResult['verdict'], string>> = {
  holds: '✓ holds',
  broken: '✗ BROKEN',
  refused: '⊘ refused',
  'not-promised': '– not promised',
}

/** All laws of a database. */
export function subjectSection(subject: NamedSubject, index: number): Markup {
  const facts = [subject.server, `through ${subject.adapter}`, showDuration(subject.tookMs)]
  const error = subject.error === undefined ? undefined : errorMarkup(subject.error)
  return markup`<section id="subject-${index + 1}">
<h2>${visible(subject.name)}</h2>
<p class="facts">${visible(facts.filter(Boolean).join(' · '))}</p>
${error}${notes(subject)}
${subject.results.map((result) => lawMarkup(result, index))}
</section>
`
}

function errorMarkup(error: string): Markup {
  return markup`<div class="error"><strong>Not run to the end</strong><pre>${error}</pre></div>
`
}

/** Why cells of the matrix are what they are. */
function notes({ matrix }: NamedSubject): Markup | undefined {
  const noted = matrix.filter(({ note }) => note !== undefined)
  if (noted.length === 0) return undefined
  return markup`<details class="notes"><summary>Notes on the matrix</summary><ul>
${noted.map(({ feature, state, note }) => markup`<li><code>${feature}</code> <span class="state ${state}">${state}</span> ${note}</li>\n`)}</ul></details>`
}

function lawMarkup(result: LawResult, subjectIndex: number): Markup {
  const { id, says, verdict, features, reason, runs, tookMs, trace } = result
  const classes = ['law', verdict, ...features.map((feature) => `feature-${feature}`)].join(' ')
  const open = verdict === 'broken' ? markup` open=""` : undefined
  const anchor = anchorOf(subjectIndex, id)
  return markup`<details class="${classes}" id="${anchor}"${open}>
<summary><span class="verdict ${verdict}">${verdictWords[verdict]}</span> <code>${visible(id)}</code> <span class="says">${visible(says)}</span></summary>
${reason === undefined ? undefined : markup`<p class="reason">${reason}</p>\n`}<p class="facts">${features.join(', ')} · ${showDuration(tookMs)} · ${runs === 1 ? 'run once' : `run ${runs} times`} · <a href="#${anchor}">link</a></p>
${trace.length === 0 ? undefined : steps(result)}</details>
`
}

function steps({ trace }: LawResult): Markup {
  return markup`<div class="scroll">${drawing(trace)}</div>
<ol class="steps">
${inOrder(trace).map(
  (event) =>
    markup`<li class="${event.outcome}"><b>${visible(event.actor)}</b> ${visible(event.does)}${endingOf(event)} <small>${timeOf(event)}</small></li>\n`,
)}</ol>
`
}
