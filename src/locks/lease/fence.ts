import { LockLostError, LockUsageError } from '../../core/errors.ts'
import { readAnswer } from '../../core/statement.ts'
import { readFailure } from '../failure.ts'
import { heldBy, type Lease } from './lease.ts'
import type { OpenTransaction } from '../port.ts'
import { partOf } from '../transaction/part.ts'

/**
 * Lets the transaction be committed only by the holder of the lease: nobody takes it over until the transaction ends.
 *
 * It is to be the transaction's first statement, so that everything is read as of when the lease was held. Rejects with
 * {@link LockLostError} when the lease is another's by now. The lease cannot be renewed meanwhile on most engines, so
 * the transaction is to be shorter than the lease's `ttlMs`.
 */
export function assertFence(open: OpenTransaction<unknown>, lease: Lease): Promise<void> {
  return partOf(open, () => assertNow(open, lease))
}

async function assertNow(open: OpenTransaction<unknown>, lease: Lease): Promise<void> {
  const held = heldBy(lease)
  if (held === undefined) throw new LockUsageError('lease', 'is not a lease that was taken with Holdfast')
  if (open.access === 'read-only')
    throw new LockUsageError('access', 'a read-only transaction cannot be fenced')
  lease.throwIfLost()
  const { session, dialect } = open
  const statement = dialect.lease.guard(held)
  const rows = await session.run(statement).catch((error: unknown) => {
    throw readFailure(error, dialect).error
  })
  const answer = statement.answers && readAnswer(statement.answers, rows)
  if (answer !== 'granted')
    throw new LockLostError(`the lease ${held.name} is no longer ours: nothing was written under it`)
}
