import type { Value } from '../../core/statement.ts'

/**
 * No type: the server finds it out, and postgres.js has nothing to write the value by.
 *
 * It writes a value by the type that the server has found, a text for a JSON column as a JSON text, and waits for that
 * type first. What it is told of a type it takes to be a number, which this is where it goes to the server.
 */
const untyped = { valueOf: () => 0 } as unknown as number

export const raw: (typed: (value: unknown, type: number) => unknown, value: Value) => unknown = (
  typed,
  value,
) => (value === null ? null : typed(written(value), untyped))

function written(value: NonNullable<Value>): string {
  if (value instanceof Date) return value.toISOString()
  return value instanceof Uint8Array ? `\\x${Buffer.from(value).toString('hex')}` : String(value)
}
