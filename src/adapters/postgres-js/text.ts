import { isQuery, type PostgresJsQuery } from './driver.ts'

/**
 * The text of a query as the server will read it, but for helpers such as `sql(values)`, of which a place is left: they
 * have names and values only. What stands in the places is put into `values`.
 */
export function textOf({ strings, args }: PostgresJsQuery, values: unknown[] = []): string {
  let text = strings[0] ?? ''
  for (let place = 1; place < strings.length; place += 1)
    text += partOf(args[place - 1], values) + (strings[place] ?? '')
  return text
}

function partOf(value: unknown, values: unknown[]): string {
  if (isQuery(value)) return textOf(value, values)
  if (Array.isArray(value) && isQuery(value[0]))
    return value.map((part) => ` ${partOf(part, values)}`).join('')
  return `$${values.push(value)}`
}
