import type { NamedLockTraits } from '../named-lock.ts'

/** A transaction that took the lock after it had begun to write or read is the only writer, or is refused. */
export const named: NamedLockTraits = { keptBy: 'lease', canJoin: () => true }
