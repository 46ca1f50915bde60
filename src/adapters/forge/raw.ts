import type { Row } from '../../core/statement.ts'

type Values = readonly unknown[]
type Unsafe = (sql: string, ...values: Values) => PromiseLike<unknown>
type Tagged = (strings: readonly string[], ...values: Values) => PromiseLike<unknown>

interface RawCalls {
  readonly $queryRawUnsafe?: Unsafe
  readonly $executeRawUnsafe?: Unsafe
  readonly $queryRaw?: Tagged
  readonly $executeRaw?: Tagged
}

/** Sends one statement. Gives its rows, or none where it is not one that reads. */
export type SendRaw = (sql: string, values?: Values) => Promise<readonly Row[]>

const reading = /^\s*(?:select|with|show|pragma|values|table|explain|\()|\breturning\b/i

/**
 * Sends statements through a client, or through the object that it gives to the work of a transaction.
 *
 * `tell` hears whether the client sends at once, and not when somebody waits for the answer.
 */
export function rawOn(of: object, tell: (isEager: boolean) => void = () => {}): SendRaw {
  const calls = of as RawCalls
  const told = (answer: PromiseLike<unknown> | undefined): PromiseLike<unknown> | undefined => {
    if (answer !== undefined) tell(answer instanceof Promise)
    return answer
  }
  return async (sql, values = []) => {
    if (!reading.test(sql)) {
      await (told(calls.$executeRawUnsafe?.(sql, ...values)) ??
        tagged(calls.$executeRaw?.bind(of), sql, values))
      return []
    }
    const rows = await (told(calls.$queryRawUnsafe?.(sql, ...values)) ??
      tagged(calls.$queryRaw?.bind(of), sql, values))
    return Array.isArray(rows) ? (rows as readonly Row[]) : []
  }
}

/** What a client must have, one of each pair. */
export const rawPairs: readonly (readonly [string, string])[] = [
  ['$queryRawUnsafe', '$queryRaw'],
  ['$executeRawUnsafe', '$executeRaw'],
]

/** A place for a value, but not in quotes or a comment. */
const places = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\d+)|\?/g

/** The same by the form that takes a template: its values stand between the parts of the text. */
async function tagged(call: Tagged | undefined, sql: string, values: Values): Promise<unknown> {
  if (call === undefined) throw new TypeError('the client has no raw statements')
  const strings: string[] = []
  const inOrder: unknown[] = []
  let from = 0
  for (const { 0: found, 1: number, index } of sql.matchAll(places)) {
    if (number === undefined && found !== '?') continue
    strings.push(sql.slice(from, index))
    inOrder.push(values[number === undefined ? inOrder.length : Number(number) - 1])
    from = index + found.length
  }
  strings.push(sql.slice(from))
  return call(Object.assign(strings, { raw: strings }), ...inOrder)
}
