import { performance } from '../../core/clock.ts'
import { LockUsageError } from '../../core/errors.ts'
import { canonicalKey, isRawKey, type LockKey } from '../../core/key.ts'
import type { Receipt } from '../../core/receipt.ts'
import type { Dialect } from '../../dialects/dialect.ts'
import { createHandle } from '../handle.ts'
import type { Leases } from '../lease/lease.ts'
import type { NamedLocking } from './opening.ts'
import { asTimeout, openSession } from '../open-session.ts'
import type { Port, Server } from '../port.ts'
import { receiptOf } from '../rows/rows.ts'
import type { Held } from '../session-lock/hold.ts'
import type { AcquireOptions, SessionRequest } from '../session-lock/options.ts'
import { createSessionLocks, type OnEnd } from '../session-lock/session-lock.ts'

/** What they are made of. */
export interface HoldsPort<Tx> {
  readonly port: Port<Tx>
  readonly candidates: readonly Dialect[]
  readonly locking: NamedLocking
  readonly leases: Leases
}

interface HoldTerms {
  readonly ttlMs: number
  /** As they were given, without what only this library's own locks know. */
  readonly options: AcquireOptions
  readonly onEnd: OnEnd | undefined
}

/** Locks that are held until they are released. */
export interface Holds {
  readonly take: (request: SessionRequest, terms: HoldTerms) => Promise<Held>
  /** The lock of the transaction around. */
  readonly within: (key: LockKey, receipt: Receipt) => Promise<Held>
}

export function createHolds<Tx>(parts: HoldsPort<Tx>): Holds {
  const { port, candidates, locking } = parts
  const isLease = candidates.every(({ named }) => named.keptBy === 'lease')
  const asLease = acquireLease(parts)
  const { planFor, probe: checkServer } = locking
  const sessionLocks = createSessionLocks({ port, planFor, checkServer })
  return {
    take: (request, { ttlMs, options, onEnd }) =>
      isLease
        ? asLease(request, { ttlMs, signal: options.signal, ...(onEnd && { onEnd }) })
        : sessionLocks.acquire(request.key, options, onEnd),
    within: async (key, receipt) => heldByTransaction(key, receipt),
  }
}

interface LeaseCall {
  readonly ttlMs: number
  readonly onEnd?: OnEnd
  readonly signal: AbortSignal | undefined
}

function acquireLease<Tx>({
  port,
  locking,
  leases,
}: HoldsPort<Tx>): (request: SessionRequest, call: LeaseCall) => Promise<Held> {
  let known: Server | undefined
  return async (request, { ttlMs, signal, onEnd }) => {
    const { key, mode, wait } = request
    known ??= await askServer(port, { signal, wait })
    // the statements of the lease's owner are its own; the plan says what is given, or refuses it
    const plan = locking.planFor(known, { ...request, lease: { owner: 'holder', ttlMs } })
    const began = performance.now()
    const lease = await leases.take({
      key,
      name: lockName(key),
      noun: 'lock',
      ...(onEnd && { onOver: onEnd }),
      options: { ttlMs, wait, ...(signal && { signal }) },
    })
    const waitedMs = performance.now() - began
    const receipt = receiptOf(plan, { mode }, { statements: plan.beforeBegin, waitedMs })
    return {
      key,
      receipt,
      get signal() {
        return lease.signal
      },
      release: () => lease.release(),
      [Symbol.asyncDispose]: async () => lease[Symbol.asyncDispose](),
    }
  }
}

/** The row that a transaction's lock on the same key uses as well, so that both exclude each other. */
function lockName(key: LockKey): string {
  if (!isRawKey(key)) return canonicalKey(key).name
  throw new LockUsageError('key', 'this database has no advisory locks that other code could share')
}

async function askServer<Tx>(
  port: Port<Tx>,
  { signal, wait }: { readonly signal: AbortSignal | undefined; readonly wait: SessionRequest['wait'] },
): Promise<Server> {
  const isTimed = typeof wait === 'object'
  const patience = { signal, patienceMs: isTimed ? wait.timeoutMs : 30_000 }
  const opening = openSession(port, { ...patience, purpose: 'to ask what the server is' })
  const session = await opening.catch((error: unknown) => {
    throw isTimed ? asTimeout(error) : error
  })
  try {
    return await port.server(session)
  } finally {
    await session.release()
  }
}

/** The lock of the transaction around: it ends with that, whatever becomes of this handle. */
function heldByTransaction(key: LockKey, receipt: Receipt): Held {
  const { signal } = new AbortController()
  return createHandle(
    { key, receipt, signal },
    { name: 'a lock of a transaction', release: nothing, abandon: () => {} },
  )
}

async function nothing(): Promise<void> {}
