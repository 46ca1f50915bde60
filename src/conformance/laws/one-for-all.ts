import type { Facts } from '../facts.ts'

/** Where a lock is the whole database, no two names can be held at a time. */
export function oneForAll({ plan }: Facts): string | undefined {
  return plan('advisory')?.support.granularity === 'database'
    ? 'a lock of a transaction is the whole database here'
    : undefined
}
