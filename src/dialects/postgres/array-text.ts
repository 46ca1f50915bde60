import type { Value } from '../../core/statement.ts'

/**
 * Values as one parameter, in PostgreSQL's own text for an array: the column that it is compared with gives it its type.
 *
 * Undefined when a value has no text that every driver would write alike, as a time has none.
 */
export function arrayText(values: readonly Value[]): string | undefined {
  const texts = values.map(elementText)
  return texts.includes(undefined) ? undefined : `{${texts.join(',')}}`
}

function elementText(value: Value): string | undefined {
  if (value instanceof Uint8Array) return quoted(`\\x${Buffer.from(value).toString('hex')}`)
  if (value === null || value instanceof Date) return undefined
  // a value of a type that only its driver knows
  if (typeof value === 'object') return undefined
  return typeof value === 'string' ? quoted(value) : String(value)
}

/** @see https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO */
function quoted(text: string): string {
  return `"${/["\\]/.test(text) ? escaped(text) : text}"`
}

function escaped(text: string): string {
  return text.replaceAll(/["\\]/g, String.raw`\$&`)
}
