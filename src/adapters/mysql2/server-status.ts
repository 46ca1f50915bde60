import { LockUsageError } from '../../core/errors.ts'

const IN_TRANSACTION = 1
const AUTOCOMMIT = 2

/** Comes with the answer to every statement that gives no rows. */
function statusOf(answer: unknown): number {
  return (answer as { readonly serverStatus?: number }).serverStatus ?? IN_TRANSACTION + AUTOCOMMIT
}

/** Whether the server says so with this answer. */
export function isInTransaction(answer: unknown): boolean {
  return (statusOf(answer) & IN_TRANSACTION) !== 0
}

/** With autocommit off nothing that is sent on its own is ever stored, and the end of a transaction begins another. */
export function checkAutocommit(answer: unknown): void {
  if (!Array.isArray(answer) && (statusOf(answer) & AUTOCOMMIT) === 0) throw withoutAutocommit()
}

export function withoutAutocommit(): LockUsageError {
  return new LockUsageError(
    'pool',
    'its connections have autocommit off, so what is sent outside of a transaction would not be stored: leave it on',
  )
}
