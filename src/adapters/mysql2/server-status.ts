import { LockUsageError } from '../../core/errors.ts'

const IN_TRANSACTION = 1
const AUTOCOMMIT = 2

/** What the server says of the session, with the answer to a statement. Undefined for an answer that says nothing. */
export type ServerStatus = number | undefined

/** Whether a transaction is open there. An answer that says nothing does not speak against it. */
export function isInTransaction(status: ServerStatus): boolean {
  return status === undefined || (status & IN_TRANSACTION) !== 0
}

/** With autocommit off nothing that is sent on its own is ever stored, and the end of a transaction begins another. */
export function checkAutocommit(status: ServerStatus): void {
  if (status !== undefined && (status & AUTOCOMMIT) === 0) throw withoutAutocommit()
}

/** A table of an engine without transactions begins none: what is written to it is stored at once, whatever follows. */
export function mustHaveBegun(status: ServerStatus): void {
  if (isInTransaction(status)) return
  throw new LockUsageError(
    'tables',
    'they are of a storage engine without transactions: lock a table of InnoDB',
  )
}

export function withoutAutocommit(): LockUsageError {
  return new LockUsageError(
    'pool',
    'its connections have autocommit off, so what is sent outside a transaction would not be stored: leave it on',
  )
}
