import type { Attestation, AttestedCapability, Finding, Severity } from '../core/attestation.ts'
import { isUnsupported } from '../core/support.ts'
import { visible } from '../conformance/reporters/visible.ts'
import { type Layout, type Tone } from './inspect-text.ts'

type Observed = AttestedCapability['observed']

const words: Readonly<Record<Observed, string>> = {
  holds: 'ok',
  refused: 'refused',
  broken: 'BROKEN',
  untried: 'untried',
}
const tones: Readonly<Record<Observed | Severity, Tone | undefined>> = {
  holds: undefined,
  refused: 'quiet',
  broken: 'danger',
  untried: 'waiting',
  error: 'danger',
  warning: 'waiting',
  note: 'quiet',
}
const wordWidth = Math.max(...Object.values(words).map((word) => word.length))
/** Narrower screens get lines of this length. */
const leastColumns = 40

/** What was found, for people: a line for each lock, and a paragraph for each finding. */
export function renderAttestation(attestation: Attestation, layout: Layout): string {
  const { dialect, version, capabilities, findings, tookMs } = attestation
  const columns = Math.max(leastColumns, layout.columns)
  const head = `${layout.paint('name', visible(`${dialect} ${version}`))}  ${summaryOf(attestation)}, ${tookMs} ms`
  const width = Math.max(...capabilities.map(({ capability }) => capability.length))
  const blocks = [
    [head],
    capabilities.flatMap((one) => capabilityLines(one, width, { ...layout, columns })),
    ...findings.map((finding) => findingLines(finding, { ...layout, columns })),
  ]
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

function summaryOf({ capabilities, findings }: Attestation): string {
  const counts = (Object.keys(words) as Observed[]).flatMap((observed) => {
    const count = capabilities.filter((one) => one.observed === observed).length
    return count === 0 ? [] : [`${count} ${words[observed]}`]
  })
  const found = findings.length === 1 ? '1 finding' : `${findings.length} findings`
  return [...counts, found].join(', ')
}

function capabilityLines(one: AttestedCapability, width: number, layout: Layout): readonly string[] {
  const { capability, claimed, observed, detail, tookMs } = one
  const start = `  ${words[observed].padEnd(wordWidth)}  ${capability.padEnd(width)}  `
  const level = isUnsupported(claimed) || claimed.level === 'native' ? '' : ` (${claimed.level})`
  const time = tookMs === 0 ? '' : `, ${tookMs} ms`
  const [first = '', ...rest] = wrap(`${visible(detail)}${level}${time}`, layout.columns - start.length)
  const tone = tones[observed]
  const head =
    tone === undefined ? start : start.replace(words[observed], layout.paint(tone, words[observed]))
  return [`${head}${first}`.trimEnd(), ...rest.map((line) => `${' '.repeat(start.length)}${line}`)]
}

function findingLines(
  { id, severity, title, why, mend }: Finding,
  { columns, paint }: Layout,
): readonly string[] {
  const start = `${severity}: `
  const [first = '', ...rest] = wrap(`${visible(title)} [${id}]`, columns - start.length)
  const tone = tones[severity]
  const indented = (text: string): readonly string[] =>
    wrap(visible(text), columns - 4).map((line) => `    ${line}`)
  return [
    `${tone === undefined ? start : paint(tone, start)}${first}`,
    ...rest.map((line) => `${' '.repeat(start.length)}${line}`),
    ...indented(why),
    ...indented(`Fix: ${mend}`),
  ]
}

/** The text in lines of at most so many characters; a longer word has a line of its own. */
export function wrap(text: string, columns: number): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= columns)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
