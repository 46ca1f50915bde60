import type { TransactionOptions } from '../../locks/transaction/options.ts'
import type { Facts } from '../facts.ts'

/** Reasons why a law about rows does not speak about a database; undefined where it does. */
type Excuse = (facts: Facts) => string | undefined

export const noKill: Excuse = ({ canKill }) =>
  canKill ? undefined : 'there is no connection that a server could end'

export const noSharing: Excuse = ({ plan }) =>
  plan('row-shared')?.mode === 'shared' ? undefined : 'a shared lock is an exclusive one here'

export const moreThanRows: Excuse = ({ plan }) => {
  const granularity = plan('row-exclusive')?.support.granularity
  return granularity === 'row' ? undefined : `whoever locks a row locks the whole ${granularity} here`
}

export const noQueue: Excuse = ({ plan }) =>
  plan('row-exclusive')?.waiting.by === 'server' ? undefined : 'nobody waits in the server here'

export const noGuardOnWrites: Excuse = ({ plan }) => {
  const lock = plan('row-exclusive')
  const isApart = lock?.query?.style === 'covered' && lock.begin === undefined
  return isApart
    ? 'a guard beside the rows is what is locked: who writes without it is not held up'
    : undefined
}

const isLockedByBegin = ({ plan }: Facts): boolean => plan('row-exclusive')?.begin !== undefined

export const lockedByBegin: Excuse = (facts) =>
  isLockedByBegin(facts) ? 'the transaction itself is the lock, and waits for it as it begins' : undefined

/** A refusal that ends the whole transaction leaves nothing to go on with. */
export const endsWithRefusal: Excuse = (facts) =>
  facts.plan('row-exclusive')?.waiting.by === 'transaction'
    ? 'a refused lock ends the transaction here'
    : lockedByBegin(facts)

/** Where the transaction is the lock, its own limit is that of the lock. */
export function limitedBegin(facts: Facts, lockTimeoutMs: number): TransactionOptions {
  return isLockedByBegin(facts) ? { lockTimeoutMs } : {}
}
