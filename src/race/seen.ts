import { describeValue } from '../conformance/trace.ts'

/** What came back for a statement. */
export interface Answer {
  readonly rows?: unknown
  /** How many rows were changed. */
  readonly count?: unknown
}

const mostCharacters = 100

/** How a statement ended, as it stands behind it in the timeline. */
export function seenIn(
  error: unknown,
  answer: Answer | undefined,
): { readonly outcome: 'done' | 'failed'; readonly detail?: string } {
  if (error !== undefined && error !== null) {
    return { outcome: 'failed', detail: describeValue(error) ?? 'failed' }
  }
  const detail = answer === undefined ? undefined : describeAnswer(answer)
  return detail === undefined ? { outcome: 'done' } : { outcome: 'done', detail }
}

function describeAnswer({ rows, count }: Answer): string | undefined {
  if (Array.isArray(rows) && rows.length > 0) {
    return shortened(rows.map((row) => describeRow(row)).join(', '))
  }
  if (Array.isArray(rows) && count === undefined) return 'no row'
  return typeof count === 'number' ? `${count} ${count === 1 ? 'row' : 'rows'}` : undefined
}

function describeRow(row: unknown): string {
  if (typeof row !== 'object' || row === null) return String(row)
  const fields = Object.entries(row).map(([name, value]) => `${name}: ${describeField(value)}`)
  return `{ ${fields.join(', ')} }`
}

function describeField(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Date) return value.toISOString()
  return JSON.stringify(value) ?? 'nothing'
}

/** A statement with what stands for its placeholders. */
export function withValues(text: string, values: readonly unknown[] | undefined): string {
  if (values === undefined || values.length === 0) return text
  return `${text} [${shortened(values.map((value) => describeField(value)).join(', '))}]`
}

function shortened(text: string): string {
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text
}
