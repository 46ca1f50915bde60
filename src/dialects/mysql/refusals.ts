import { unsupported, type Unsupported } from '../../core/support.ts'

/** InnoDB facts that hold for every server of the family. */
export const gapLocksDoNotExclude: Unsupported = unsupported(
  'InnoDB locks the gap where a row is missing, but two transactions can hold the same gap and then deadlock on INSERT',
  'take an advisory lock on the name of what may be missing, or lock a parent row',
)

export const noSkipLocked: Unsupported = unsupported(
  'SKIP LOCKED came with MySQL 8.0.1 and MariaDB 10.6',
  'claim rows with an UPDATE that writes a unique token, then read them by that token',
)

export const namesOnly: Unsupported = unsupported('user locks are named by text', 'use rawNameKey')
