import { show } from '../../core/check-field.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { Value } from '../../core/statement.ts'
import { quietly } from '../../core/unwrap.ts'

/**
 * A value that `mysql2` can send. It makes text of anything: of an object `[object Object]`, which is stored as such, and
 * equals the number 0. What is of a class with a text of its own is its own business: that text may be what is meant.
 */
export function sendable(value: Value): Value {
  if (hasNoText(value)) {
    throw new LockUsageError(
      'params',
      `${show(value)} is not a value that can be sent to this database: pass JSON as text, with JSON.stringify`,
    )
  }
  return value
}

function hasNoText(value: unknown): boolean {
  if (typeof value === 'function' || typeof value === 'symbol') return true
  if (typeof value !== 'object' || value === null) return false
  // sent by what they hold: a list by its values
  if (Array.isArray(value) || value instanceof Set) return [...(value as Iterable<unknown>)].some(hasNoText)
  if (value instanceof Date || value instanceof Uint8Array) return false
  // the driver's own way to say how a value is written
  if (typeof (value as { readonly toSqlString?: unknown }).toSqlString === 'function') return false
  const kind: unknown = Object.getPrototypeOf(value)
  return kind === null || kind === Object.prototype || isWordless(value)
}

/** What the driver sends is `String(value)`: it asks for no `toJSON`. */
function isWordless(value: unknown): boolean {
  return quietly(() => /^\[object .*\]$/.test(String(value))) !== false
}
