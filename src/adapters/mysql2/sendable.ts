import { show } from '../../core/check-field.ts'
import { LockUsageError } from '../../core/errors.ts'
import type { Value } from '../../core/statement.ts'

/**
 * A value that `mysql2` can send. It makes text of anything: of an object `[object Object]`, which is stored as such, and
 * equals the number 0. What is of a class is its own business: it may know it, or its text may be what is meant.
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
  if (Array.isArray(value)) return value.some(hasNoText)
  const kind: unknown = Object.getPrototypeOf(value)
  // the driver's own way to say how a value is written
  return (kind === null || kind === Object.prototype) && !('toSqlString' in value)
}
