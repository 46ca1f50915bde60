import { LockUsageError } from '../../core/errors.ts'
import type { TableName } from '../../core/request.ts'

/** `place` is what the caller has to change. */
export function fieldName(field: string, place = 'queue'): string {
  if (field.startsWith('$')) throw new LockUsageError(place, `${field} is an operator, not a field`)
  return field
}

/** A command runs in one database, which the connection has chosen. */
export function collection(table: TableName, place = 'table'): string {
  if (typeof table === 'string') return table
  const [name, ...rest] = table
  if (name !== undefined && rest.length === 0) return name
  throw new LockUsageError(place, "a collection's name has one part: the database belongs to the connection")
}
