import { checkWork } from '../../core/check-field.ts'
import { ownKey, type LockKey } from '../../core/key.ts'
import { chosenLeaseName } from '../../core/lease-name.ts'
import { asItIs, madeOf } from '../../core/on-demand.ts'
import type { Session } from '../../core/session.ts'
import { leaseStory } from '../../events/lease-story.ts'
import { placeOf } from '../event-place.ts'
import { createAcquire, type Acquire } from './acquire.ts'
import { createAdvisoryLocks, type AdvisoryLocks } from './advisory.ts'
import { createDefaultIsolation } from './default-isolation.ts'
import { knownKeys } from './known-keys.ts'
import { checkLeaseOptions, type LeaseOptions } from '../lease/options.ts'
import type { Lease, Leases } from '../lease/lease.ts'
import type { LeaderOptions } from '../nodes/leader.ts'
import { runMigration, type MigrationOptions } from '../nodes/migration-lock.ts'
import type { NamedLocking } from './opening.ts'
import type { TransactionOptions } from '../transaction/options.ts'
import { rememberPlans, type PlanNamed } from './plans.ts'
import * as seldom from '../seldom.ts'
import type { SemaphoreOptions } from '../semaphore/options.ts'
import { createSemaphores, type Semaphore } from '../semaphore/semaphore.ts'
import type { Held } from '../session-lock/hold.ts'
import type { SingletonOptions, SingletonWork, TakeLease } from '../nodes/singleton.ts'
import type { LeasePort } from '../port.ts'
import { stepsOf } from '../transaction/part.ts'
import type { Scope } from '../transaction/scope.ts'
import { runTransaction, type Transactions } from '../transaction/transaction.ts'

/** Locks with a name: for as long as a transaction, until they are released, or as leases that end by themselves. */
export interface NamedLocks<Tx> extends AdvisoryLocks<Tx> {
  /**
   * Takes a lock and holds it until you release it: outside of any transaction, across many of them.
   *
   * Kept by a connection that many such locks share; on databases without named locks, by a lease that is renewed.
   * Rejects with {@link LockNotAvailableError} or {@link LockTimeoutError} when somebody else holds it.
   *
   * If the lock is lost meanwhile, a function with `await using` still resolves: check `held.signal`, or call
   * `held.signal.throwIfAborted()`.
   *
   * @example
   * await using held = await locks.acquire('import', { wait: { timeoutMs: 5000 } })
   * held.signal.aborted // => false
   */
  readonly acquire: Acquire
  /**
   * Takes a lease: a lock that expires on the server's clock when its holder dies or stalls, with a fencing token that
   * only ever increases. It is renewed until you release it; `lease.signal` aborts when it is lost.
   *
   * If the lease is lost meanwhile, a function with `await using` still resolves: check `lease.signal`, or call
   * `lease.throwIfLost()`.
   *
   * @example
   * await using lease = await locks.lease('nightly-report', { ttlMs: 30_000 })
   * lease.signal.aborted // => false
   */
  readonly lease: (key: LockKey, options?: LeaseOptions) => Promise<Lease>
  /**
   * Lets at most `permits` holders in at a time, over all processes: each permit is a lease, with a slot and a fence.
   * Those who wait are let in one after the other.
   *
   * @example
   * const mail = locks.semaphore('mail', { permits: 5 })
   * await mail.withPermit(async ({ slot }) => slot < 5) // => true
   * await using permit = await mail.tryAcquire()
   * permit?.signal.aborted // => false
   */
  readonly semaphore: (key: LockKey, options: SemaphoreOptions) => Semaphore
  /**
   * Runs `work` in a transaction that is committed only when the lease is still its holder's: the database sees to it.
   *
   * A lease of `holdfast/redis` or `holdfast/etcd` will do as well: the database then keeps the highest fence that it has
   * seen, and refuses a lower one.
   *
   * Rejects with {@link LockLostError} when it is not.
   */
  readonly fenced: <T>(lease: Lease, work: (tx: Tx) => Promise<T>, options?: TransactionOptions) => Promise<T>
  /** Checks, inside an open transaction, that the lease is still its holder's. Rejects with {@link LockLostError} if not. */
  readonly assertFence: (tx: Tx, lease: Lease) => Promise<void>
  /**
   * Runs a job on one node at a time, every so often, although every node calls this: cron without running it everywhere.
   *
   * Resolves when the signal has aborted and the run that was under way has ended. A node that dies in a run is replaced
   * and the run is repeated, so make it idempotent.
   *
   * @example
   * const stop = new AbortController()
   * let runs = 0
   * const clean = async () => {
   *   runs += 1
   *   stop.abort()
   * }
   * await locks.singleton('clean-up', clean, { everyMs: 60_000, signal: stop.signal })
   * runs // => 1
   */
  readonly singleton: (name: LockKey, work: SingletonWork, options: SingletonOptions) => Promise<void>
  /**
   * Makes one of the nodes that call this the leader, and another one when that one stops or dies.
   *
   * Resolves when the signal has aborted.
   *
   * @example
   * const stop = new AbortController()
   * const seen: string[] = []
   * await locks.leader('scheduler', {
   *   signal: stop.signal,
   *   onElected: () => {
   *     seen.push('elected')
   *     stop.abort()
   *   },
   *   onLost: () => seen.push('stopped'),
   * })
   * seen // => ['elected', 'stopped']
   */
  readonly leader: (name: LockKey, options: LeaderOptions) => Promise<void>
  /**
   * Runs migrations one at a time, however many nodes start at once.
   *
   * If the lock is lost meanwhile, the call still resolves: check `held.signal`, or call `held.signal.throwIfAborted()`.
   */
  readonly migrationLock: <T>(work: (held: Held) => Promise<T>, options?: MigrationOptions) => Promise<T>
}

export function createNamedLocks<Tx>(
  transactions: Transactions<Tx>,
  how: Pick<NamedLocking, 'needs'> & { readonly planFor: PlanNamed },
): NamedLocks<Tx> {
  const { port, candidates, scope } = transactions
  const planFor = rememberPlans(how.planFor)
  const probe = madeOf(seldom.probe, ({ createProbe }) => createProbe(port))
  const locking: NamedLocking = {
    ...how,
    planFor,
    // every session that comes here is one of the port's own
    probe: (session) => probe((ask) => ask(session as Session<Tx>)),
    defaultIsolation: createDefaultIsolation(),
  }
  const leases = leasesOf(port)
  const fence = createFencing(scope)
  const acquire = createAcquire({ port, candidates, locking, leases, current: scope.current })
  const lease: NamedLocks<Tx>['lease'] = async (given, options = {}) => {
    const key = ownKey(given)
    const name = chosenLeaseName(key)
    knownKeys.remember(key)
    const checked = checkLeaseOptions(asItIs(options))
    const { ttlMs, wait } = checked
    // at once: the caller is still on the stack, and what those who listen note is there for what it does next
    const story = leaseStory(() => ({ ...placeOf(port), key, ttlMs, wait }))
    return leases.take({ key, name, options: checked, story })
  }
  return {
    ...createAdvisoryLocks(transactions, locking),
    acquire,
    lease,
    semaphore: createSemaphores(leases),
    fenced: createFenced(transactions, leases, fence),
    assertFence: async (tx, held) => fence(tx, held),
    ...createNodes(acquire, lease),
  }
}

type Nodes = Pick<NamedLocks<unknown>, 'singleton' | 'leader' | 'migrationLock'>

/** What is run by one of many nodes. */
function createNodes(acquire: Acquire, lease: TakeLease): Nodes {
  return {
    singleton: async (name, work, options) => {
      const [key, asked] = [ownKey(name), asItIs(options)]
      return seldom.singleton(({ runSingleton }) => runSingleton(lease, { name: key, work }, asked))
    },
    leader: async (name, options) => {
      const [key, asked] = [ownKey(name), asItIs(options)]
      return seldom.leader(({ runLeader }) => runLeader(acquire, key, asked))
    },
    migrationLock: (work, options) => runMigration(acquire, work, options),
  }
}

/** A call counts as a part of its transaction while its code is loaded. */
function createFencing<Tx>({ find }: Scope<Tx>): NamedLocks<Tx>['assertFence'] {
  const fences = madeOf(seldom.fences, ({ createFence }) => createFence())
  return (tx, held) => {
    const open = find(tx)
    return stepsOf(open, () => fences((assert) => assert(open, held)))
  }
}

/** Leases whose code is loaded with the first of them. */
function leasesOf(port: LeasePort): Leases {
  const made = madeOf(seldom.leases, ({ createLeases }) => createLeases(port))
  return {
    take: (request, waitFor) => made(({ take }) => take(request, waitFor)),
    prepareFor: (lease) => made(async ({ prepareFor }) => prepareFor(lease)),
  }
}

function createFenced<Tx>(
  transactions: Transactions<Tx>,
  leases: Leases,
  fence: NamedLocks<Tx>['assertFence'],
): NamedLocks<Tx>['fenced'] {
  return async (held, work, options) => {
    checkWork(work)
    const asked = asItIs(options)
    if (transactions.scope.current() === undefined) await leases.prepareFor(held)
    const guarded = async (tx: Tx): ReturnType<typeof work> => {
      await fence(tx, held)
      return work(tx)
    }
    return runTransaction(transactions, guarded, asked)
  }
}
