import { LockLostError, LockUsageError } from '../../core/errors.ts'
import { readPermitName } from '../../core/permit-name.ts'
import { readAnswer, type Answer, type Statement } from '../../core/statement.ts'
import type { Dialect } from '../../dialects/dialect.ts'
import { readFailure } from '../failure.ts'
import { heldBy, type Lease, type LeaseKept } from './lease.ts'
import type { KeptElsewhere, OpenTransaction } from '../port.ts'
import { partOf } from '../transaction/part.ts'

/**
 * Lets the transaction be committed only by the holder of the lease: nobody takes it over until the transaction ends.
 *
 * Of a lease that is kept elsewhere the database has only the highest fence that it has seen: it refuses a lower one, and
 * cannot keep others from taking the lease.
 *
 * It is to be the transaction's first statement, so that everything is read as of when the lease was held. Rejects with
 * {@link LockLostError} when the lease is another's by now. The lease cannot be renewed meanwhile on most engines, so
 * the transaction is to be shorter than the lease's `ttlMs`.
 */
export function createFence(): (open: OpenTransaction<unknown>, lease: Lease) => Promise<void> {
  const hasPeers = createPeers()
  return (open, lease) => partOf(open, () => assertNow(open, lease, hasPeers))
}

type HasPeers = (open: OpenTransaction<unknown>) => Promise<boolean>

/** Asks once whether other servers take writes too. */
function createPeers(): HasPeers {
  let known: boolean | undefined
  return async ({ session, dialect: { peers } }) =>
    (known ??= peers !== undefined && peers.read(await session.run(peers.ask)) !== undefined)
}

async function assertNow(open: OpenTransaction<unknown>, lease: Lease, hasPeers: HasPeers): Promise<void> {
  const held = heldBy(lease)
  if (held === undefined)
    throw new LockUsageError('lease', 'is not a lease that was taken with this copy of Holdfast')
  if (isShared(held))
    throw new LockUsageError(
      'lease',
      "is shared with others, and its fence says nothing of who had the lock alone since: take it with mode 'exclusive'",
    )
  if (open.access === 'read-only')
    throw new LockUsageError('access', 'a read-only transaction cannot be fenced')
  lease.throwIfLost()
  const { session, dialect } = open
  const failed = (error: unknown): never => {
    throw readFailure(error, dialect).error
  }
  let answer: Answer | undefined
  for (const statement of fencingOf(dialect, held, await hasPeers(open).catch(failed))) {
    const rows = await session.run(statement).catch(failed)
    answer = statement.answers && readAnswer(statement.answers, rows)
  }
  if (answer !== 'granted')
    throw new LockLostError(`the lease ${held.name} is no longer ours: nothing was written under it`)
}

/** A lease that is kept elsewhere cannot be looked at here, but a fence that is higher can have been seen. */
function fencingOf({ name, lease }: Dialect, held: LeaseKept, hasPeers: boolean): readonly Statement[] {
  const { keeper, fence } = held
  if (keeper === undefined) return (hasPeers ? lease.guardByChange?.(held) : undefined) ?? [lease.guard(held)]
  if (lease.admit !== undefined) return lease.admit(admittedName(held.name, keeper), fence)
  throw new LockUsageError('lease', `is kept by ${keeper.name}, and ${name} has no way to compare its fence`)
}

/**
 * The name of no lease, and no longer than one. Fences of two keepers cannot be compared, so each has names of its own, and
 * so has each slot of a semaphore, and the door of a shared lock.
 */
function admittedName(name: string, { mark }: KeptElsewhere): string {
  return name.replace(/^h(?:l|[ps](:\d+|:door)):.*:/, (_, slot: string = '') => `${mark}${slot}:`)
}

function isShared({ name }: LeaseKept): boolean {
  const { kind, isDoor } = readPermitName(name) ?? {}
  return kind === 'shared' && isDoor === false
}
