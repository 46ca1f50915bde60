import { compareSequence, type Step } from './sequence.ts'
import type { Fence } from './page.ts'
import type { Failure } from './probe.ts'
import type { Sent } from './taps/tap.ts'

/** The statements of a text, without the marks behind them. Quoted text and comments may have marks of their own. */
export function statementsIn(sql: string): readonly string[] {
  const quoted = /'(?:[^']|'')*'|"[^"]*"|`[^`]*`|\$(\w*)\$.*?\$\1\$|\/\*.*?\*\//
  const parts = sql.match(new RegExp(`${quoted.source}|--[^\\n]*|;|[^'"\`;/$-]+|.`, 'gs')) ?? []
  const statements: string[] = ['']
  for (const part of parts) {
    if (part === ';') statements.push('')
    else if (!part.startsWith('--')) statements[statements.length - 1] += part
  }
  return statements.map(oneLine).filter((text) => text !== '')
}

/** What a block says was sent and was not, or was sent and it does not say. */
export function missent(fence: Fence, sent: readonly Sent[]): Failure | undefined {
  const isSql = fence.language === 'sql'
  const steps = isSql ? sqlSteps(fence.text) : jsonSteps(fence)
  const all = isSql ? sent.flatMap((one) => sqlIn(one)).filter((sql) => isShown(sql, fence)) : sent
  const mismatch = compareSequence(steps, all)
  if (mismatch === undefined) return undefined
  const received = `\n${all.map((one, index) => `  ${index + 1}. ${textOf(one)}`).join('\n')}`
  return 'step' in mismatch
    ? { line: 0, what: 'this was not sent, or not at this place', expected: mismatch.step, received }
    : { line: 0, what: 'more was sent; `-- ...` stands for what is left out', received }
}

function sqlIn(sent: Sent): readonly string[] {
  return typeof sent === 'string' ? statementsIn(sent) : []
}

/** How long SQLite itself would wait is changed around every statement, and back: a page need not show that. */
function isShown(sql: string, { text }: Fence): boolean {
  return !sql.includes('busy_timeout') || text.includes('busy_timeout')
}

/** `-- ...` stands for any number of statements, and `...` in a statement for any text. */
function sqlSteps(text: string): readonly Step[] {
  const gap = 'holdfast_gap'
  const marked = text.replaceAll(/^\s*-- \.\.\.\s*$/gm, `;${gap};`)
  return statementsIn(marked).map((says) => {
    if (says === gap) return { isGap: true }
    const pattern = new RegExp(`^${says.split('...').map(escape).join('.*')}$`, 's')
    return { isGap: false, says, fits: (sent) => typeof sent === 'string' && pattern.test(sent) }
  })
}

function jsonSteps({ text, line }: Fence): readonly Step[] {
  return jsonLines(text).map((says) => {
    if (/^(?:\/\/ )?\.\.\.$/.test(says)) return { isGap: true }
    const wanted = parseJson(says, line)
    return { isGap: false, says, fits: (sent) => isPart(wanted, sent) }
  })
}

/** One document on each line. */
export function jsonLines(text: string): readonly string[] {
  return text
    .split('\n')
    .map((one) => one.trim())
    .filter((one) => one !== '')
}

function parseJson(text: string, line: number): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`the block at line ${line} has a line that is no JSON document: ${text}`, {
      cause: error,
    })
  }
}

/** Whether every field that the page shows is there; the text `...` stands for any value. */
function isPart(wanted: unknown, actual: unknown): boolean {
  if (wanted === '...') return actual !== undefined
  if (typeof wanted !== 'object' || wanted === null) return Object.is(wanted, actual)
  if (typeof actual !== 'object' || actual === null || Array.isArray(wanted) !== Array.isArray(actual))
    return false
  if (Array.isArray(wanted) && wanted.length !== (actual as readonly unknown[]).length) return false
  return Object.entries(wanted).every(([key, value]) =>
    isPart(value, (actual as Record<string, unknown>)[key]),
  )
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

function escape(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}

function textOf(sent: Sent): string {
  return typeof sent === 'string' ? `${sent};` : JSON.stringify(sent)
}
