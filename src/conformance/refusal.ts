import { LockUsageError, UnsupportedLockError, type LockError } from '../core/errors.ts'

/** The server is told nothing of a lock that it cannot give, or of an isolation level that it does not have. */
export function isRefusal(error: unknown): error is LockError {
  return (
    error instanceof UnsupportedLockError || (error instanceof LockUsageError && error.field === 'isolation')
  )
}
