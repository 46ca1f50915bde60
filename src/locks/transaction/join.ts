import { LockUsageError } from '../../core/errors.ts'
import { isolationOf } from '../named/default-isolation.ts'
import type { OpenTransaction } from '../port.ts'
import type { TransactionOptions } from './options.ts'

/**
 * Refuses a call that wants to be a part of a transaction which is not the one that it asks for: what it asks for would
 * be dropped in silence.
 */
export async function checkPart(
  open: OpenTransaction<unknown>,
  { isolation, access, lockTimeoutMs, tables, signal }: TransactionOptions,
): Promise<void> {
  signal?.throwIfAborted()
  if (tables !== undefined) (await import('../table/held.ts')).mustHoldTables(open, tables)
  if (access !== undefined) mustAgree('access', access, open.access)
  if (lockTimeoutMs !== undefined) mustAgree('lockTimeoutMs', lockTimeoutMs, open.lockTimeoutMs)
  // what nobody has stated is asked of the server, where it can tell
  if (isolation !== undefined) mustAgree('isolation', isolation, open.isolation ?? (await isolationOf(open)))
}

function mustAgree(field: string, asked: string | number, has: string | number | undefined): void {
  if (asked === has) return
  throw new LockUsageError(
    field,
    `the call would be part of a transaction that has ${has ?? 'the default'}, not ${asked}: ask for it where that transaction begins, or leave it out here`,
  )
}
