import { UnsupportedLockError } from '../core/errors.ts'
import type { Category } from '../core/category.ts'
import type { Isolation } from '../core/request.ts'
import { unsupported } from '../core/support.ts'
import type { Dialect } from '../dialects/dialect.ts'

/** The lock that a transaction takes while it is under way, and what else would do. */
export interface LateLock {
  readonly category: Category
  readonly instead?: string | undefined
}

/** The lock is worth nothing when the transaction goes on reading what was there before the last holder wrote. */
export function mustSeeTheLast(
  dialect: Dialect,
  isolation: Isolation | undefined,
  { category, instead }: LateLock,
): void {
  if (dialect.named.canJoin(isolation)) return
  const level = isolation ?? 'this isolation level'
  throw new UnsupportedLockError(
    dialect.name,
    category,
    unsupported(
      `a transaction at ${level} may go on reading what was there before the lock was granted`,
      `${instead === undefined ? '' : `${instead}, or `}use isolation: 'read committed'`,
    ),
  )
}
