import type { Category } from '../../src/core/category.ts'
import type { ServerKind } from '../../src/emit.ts'
import { explain } from '../../src/explain.ts'
import { sampleRequest } from '../../src/core/sample-request.ts'
import type { RequestOf } from '../../src/core/request.ts'
import { code } from './markdown.ts'

/** One line of what `explain` says. */
interface ExplainedLine {
  readonly label: string
  readonly text: string
}

/** A lock as `explain` explains it, in parts. */
export interface Explained {
  /** `native, row`, or `refused`. */
  readonly support: string
  readonly isRefused: boolean
  readonly note: string | undefined
  readonly waits: string | undefined
  /** What is sent, in its order: each with a word for its part, such as `lock`. */
  readonly statements: readonly ExplainedLine[]
  /** Of a refusal. */
  readonly why: string
  readonly instead: string
}

const words = new Set(['note', 'waits', 'why', 'instead', 'end'])

export function explained<C extends Category>(
  server: ServerKind,
  category: C,
  request: RequestOf<C> = sampleRequest[category],
): Explained {
  const [head = '', ...rest] = explain(server, category, request).split('\n')
  const lines = rest.map(readLine)
  const find = (label: string): string | undefined => lines.find((line) => line.label === label)?.text
  const [level = '', , granularity = ''] = head.slice(head.indexOf(': ') + 2).split(', ')
  const isRefused = level === 'unsupported'
  return {
    support: isRefused ? 'refused' : `${level}, ${granularity}`,
    isRefused,
    note: find('note'),
    waits: find('waits'),
    statements: lines.filter(({ label }) => !words.has(label)),
    why: find('why') ?? '',
    instead: find('instead') ?? '',
  }
}

function readLine(line: string): ExplainedLine {
  const [, label, text] = /^ {2}(\w+) +(.*)$/s.exec(line) ?? []
  if (label === undefined || text === undefined) throw new Error(`explain says what cannot be read: ${line}`)
  return { label, text }
}

/** A statement with its values, as `explain` shows it. */
export function sent(text: string): string {
  const [, statement = text, values] = /^(.*?)(?: {2}\[(.*)\])?$/s.exec(text) ?? []
  return values === undefined ? code(statement) : `${code(statement)} with ${code(values)}`
}

/** The statement alone, cut where a table has no room for it. */
export function sentBriefly(text: string, longest = 110): string {
  const [, statement = text] = /^(.*?)(?: {2}\[(.*)\])?$/s.exec(text) ?? []
  return statement.length <= longest ? code(statement) : code(`${statement.slice(0, longest).trimEnd()} ...`)
}
