import { createHash } from 'node:crypto'

import type { CoordinatorDialect } from './coordinators/commands.ts'
import { checkSignal, checkWork, onlyKnown, show } from './core/check-field.ts'
import { LockUsageError } from './core/errors.ts'
import type { LeaseSeen } from './core/inspection.ts'
import type { LockKey } from './core/key.ts'
import { chosenLeaseName } from './core/lease-name.ts'
import { readLeases } from './dialects/inspect-lease.ts'
import { callLease, isAnswered } from './locks/lease/call.ts'
import { createLeases, type Lease } from './locks/lease/lease.ts'
import type { LeaseOptions } from './locks/lease/options.ts'
import { limitTo } from './locks/limit.ts'
import { runLeader, type LeaderOptions } from './locks/nodes/leader.ts'
import { runSingleton, type SingletonOptions, type SingletonWork } from './locks/nodes/singleton.ts'
import type { KeptElsewhere, LeasePort, LeaseSessions } from './locks/port.ts'
import type { SemaphoreOptions } from './locks/semaphore/options.ts'
import { createSemaphores, type Semaphore } from './locks/semaphore/semaphore.ts'
import { createSharedLocks, type SharedLock, type SharedLockOptions } from './locks/shared/shared-lock.ts'

/** Which leases `inspect` looks at. */
export interface LeaseInspectOptions {
  /** The keys that they were taken with. */
  readonly keys: readonly LockKey[]
  /** Ends the look; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/** Leases on a server that is no database: what can be had without a transaction. */
export interface Coordinator {
  /**
   * Takes a lease: a lock that expires on the server's clock when its holder dies or stalls, with a fencing token that
   * only ever increases. It is renewed until you release it; `lease.signal` aborts when it is lost.
   *
   * Rejects with {@link LockNotAvailableError} (`wait: 'nowait'`) or {@link LockTimeoutError} while another holds it.
   */
  readonly lease: (key: LockKey, options?: LeaseOptions) => Promise<Lease>
  /**
   * Takes a lease, runs `work` under it, and releases it however the work ends.
   *
   * If the lease is lost meanwhile, the call still resolves: check `lease.signal`, or call `lease.throwIfLost()`.
   */
  readonly withLease: <T>(
    key: LockKey,
    work: (lease: Lease) => Promise<T>,
    options?: LeaseOptions,
  ) => Promise<T>
  /**
   * Lets so many in at a time, over all processes that share the server. Each permit is a lease on one of the slots.
   *
   * @example
   * ```ts
   * const mail = leases.semaphore('mail', { permits: 5 })
   * await mail.withPermit(async (permit) => send({ signal: permit.signal }))
   * ```
   */
  readonly semaphore: (key: LockKey, options: SemaphoreOptions) => Semaphore
  /**
   * A lock that up to 100 can share, or one can have alone, over all processes that share the server: readers and a writer.
   * It has nothing to do with a lease of the same key.
   *
   * @example
   * ```ts
   * const catalog = leases.sharedLock('catalog')
   * await catalog.withLock(async (lease) => read({ signal: lease.signal }), { mode: 'shared' })
   * await catalog.withLock(async (lease) => replace({ signal: lease.signal }))
   * ```
   */
  readonly sharedLock: (key: LockKey, options?: SharedLockOptions) => SharedLock
  /**
   * Runs a job on one node at a time, every so often, although every node calls this: cron without running it everywhere.
   *
   * Resolves when the signal has aborted and the run that was under way has ended. A node that dies in a run is replaced
   * and the run is repeated, so make it idempotent.
   */
  readonly singleton: (name: LockKey, work: SingletonWork, options: SingletonOptions) => Promise<void>
  /**
   * Makes one of the nodes that call this the leader, and another one when that one stops or dies.
   *
   * Resolves when the signal has aborted.
   */
  readonly leader: (name: LockKey, options: LeaderOptions<Lease>) => Promise<void>
  /**
   * Who holds these leases now. What nobody holds is left out, also what has expired. A lease that was released and is
   * kept from others for a while is shown without an `owner`.
   */
  readonly inspect: (options: LeaseInspectOptions) => Promise<readonly LeaseSeen[]>
}

/** Where a server that keeps leases and nothing else, its client and the algorithm of leases meet. */
export function meetCoordinator(dialect: CoordinatorDialect, sessions: LeaseSessions): Coordinator {
  const server = Object.assign(() => ({ dialect }), { dialect: () => dialect.name, candidates: [dialect] })
  const port: LeasePort = { sessions, server, keeper: keeperOf(dialect) }
  const leases = createLeases(port)
  const lease: Coordinator['lease'] = async (key, options = {}) => {
    refuseMode(options)
    return leases.take({ key, name: chosenLeaseName(key), options })
  }
  return {
    lease,
    withLease: async (key, work, options) => {
      checkWork(work, 'work', 'async (lease) => { ... }')
      const held = await lease(key, options)
      try {
        return await work(held)
      } finally {
        await held[Symbol.asyncDispose]()
      }
    },
    semaphore: createSemaphores(leases),
    sharedLock: createSharedLocks(leases),
    singleton: (name, work, options) => runSingleton(lease, { name, work }, options),
    leader: (name, options) => runLeader(lease, name, options),
    inspect: async (options) => {
      const { keys, signal } = checkInspect(options)
      const seen = keys.map((key) => look(port, dialect.lease.holder, { name: chosenLeaseName(key), signal }))
      return (await Promise.all(seen)).flat()
    },
  }
}

/** Two who take the lease of one key in different ways are not to be in doubt whether they meet. */
function refuseMode(options: object): void {
  if (options === null || typeof options !== 'object' || !('mode' in options)) return
  throw new LockUsageError(
    'mode',
    'a lease has one holder at a time: leave it out. To let several in at once use semaphore(key, { permits }); for ' +
      'readers and a writer use sharedLock(key)',
  )
}

/** Two prefixes are two sets of leases, of which one does not know the other's keys. */
function keeperOf({ name, lease }: CoordinatorDialect): KeptElsewhere {
  const digest = createHash('sha256')
    .update(lease.topic ?? '')
    .digest('hex')
  return { name, mark: `h${name.charAt(0)}:${digest.slice(0, 16)}` }
}

function checkInspect(options: LeaseInspectOptions): LeaseInspectOptions {
  onlyKnown(options, ['keys', 'signal'])
  checkSignal(options.signal)
  if (!Array.isArray(options.keys))
    throw new LockUsageError('keys', `${show(options.keys)} is not a list of keys`)
  return options
}

/** How long the server is waited for. */
const patienceMs = 5000

interface Looked {
  readonly name: string
  readonly signal: AbortSignal | undefined
}

async function look(
  port: LeasePort,
  statement: CoordinatorDialect['lease']['holder'],
  { name, signal }: Looked,
): Promise<readonly LeaseSeen[]> {
  const limit = limitTo({ ms: patienceMs, signal })
  const reply = await callLease(port, { statements: () => [statement(name)], signal: limit.signal })
  limit.end()
  if (!isAnswered(reply)) throw reply.error
  return reply.answer === 'granted' ? readLeases([{ ...reply.row, name }]) : []
}
