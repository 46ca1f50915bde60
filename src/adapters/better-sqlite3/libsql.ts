import { LockUsageError } from '../../core/errors.ts'

/**
 * Whether a handle is one of `libsql`, which has the calls of `better-sqlite3`.
 *
 * Seen with 0.5.29: `close` leaves the connection open until the last of its statements is garbage. What a session has
 * begun is held on, by whom nobody can tell, and every transaction leaves two descriptors of the file open.
 */
export function isLibsql(handle: object): boolean {
  return 'syncUntil' in handle
}

export function noLibsql(): LockUsageError {
  return new LockUsageError(
    'source',
    "is a handle of libsql, whose close() does not release the handle's locks: open the file with better-sqlite3",
  )
}
