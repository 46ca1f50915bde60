import { LockUsageError } from '../core/errors.ts'

/** The number by which a server calls a session; nothing else may stand in the statement that ends it. */
export function sessionNumber(id: string): string {
  if (/^[1-9]\d{0,18}$/.test(id)) return id
  throw new LockUsageError('id', `${JSON.stringify(id)} is not the number of a session`)
}
