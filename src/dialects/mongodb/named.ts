import type { NamedLockTraits } from '../named-lock.ts'

/** The guard document was changed by the last holder: a transaction that began before that is aborted when it asks. */
export const named: NamedLockTraits = { keptBy: 'lease', canJoin: () => true }
