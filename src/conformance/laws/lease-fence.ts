import { setTimeout as pause } from 'node:timers/promises'

import { LockLostError } from '../../core/errors.ts'
import type { Lease } from '../../locks/lease/lease.ts'
import { countsForItself, releasesAnybodys } from '../controls/lease-defects.ts'
import { unlocked } from '../controls.ts'
import { deferred, type Deferred } from '../deferred.ts'
import { defineLaw, type Law } from '../law.ts'
import type { Stage } from '../stage.ts'
import { deleteLease, expectLeased, long, short, takeLease, untilExpired } from './taking-leases.ts'
import { expectRefusal } from './taking.ts'

/** What keeps those away who held a lease once. */
export const fenceLaws: readonly Law[] = [
  defineLaw({
    id: 'L11',
    says: 'The fencing token increases with each holder: after a release, after a takeover, and after its row was deleted.',
    features: ['lease'],
    trial: rising,
    control: countsForItself,
  }),
  defineLaw({
    id: 'L12',
    says: 'Releasing a lease too late does not take it from the next holder.',
    features: ['lease'],
    trial: lateRelease,
    control: releasesAnybodys,
  }),
  defineLaw({
    id: 'L13',
    says: 'A former holder that has not noticed the loss cannot write under the lease.',
    features: ['lease'],
    rows: { 1: 10 },
    trial: staleWriter,
    control: unlocked,
  }),
  defineLaw({
    id: 'L14',
    says: 'Nobody takes over a lease while a transaction under it is open, even after it has expired.',
    features: ['lease'],
    rows: { 1: 10 },
    trial: openWriter,
    control: unlocked,
  }),
]

async function rising(stage: Stage): Promise<void> {
  const released = await takeLease(stage, { actor: 'a', key: 'k', options: long })
  await released.release()
  const expired = await takeLease(stage, { actor: 'b', key: 'k', options: short(stage) })
  await untilExpired(stage, 'k')
  const takenOver = await takeLease(stage, { actor: 'a', key: 'k', options: long })
  await takenOver.release()
  await pause(5) // whoever cleans up deletes what is old: the clock has moved on by then
  await deleteLease(stage, 'k')
  const anew = await takeLease(stage, { actor: 'b', key: 'k', options: long })
  await anew.release()
  const fences = [released, expired, takenOver, anew].map(({ fence }) => fence)
  const isRising = fences.every((fence, index) => index === 0 || fence > (fences[index - 1] ?? fence))
  stage.expect(isRising, `the fences are ${fences.join(', ')}`)
}

async function lateRelease(stage: Stage): Promise<void> {
  const first = await takeLease(stage, { actor: 'a', key: 'k', options: short(stage) })
  await untilExpired(stage, 'k')
  const second = await takeLease(stage, { actor: 'b', key: 'k', options: long })
  await first.release()
  await expectLeased(stage, { actor: 'a', key: 'k' })
  await second.extend()
  await second.release()
}

function write(stage: Stage, actor: string, lease: Lease): Promise<void> {
  return stage.note(actor, 'write under the lease', inFence(stage, { actor, lease, n: 11 }))
}

interface FencedWrite {
  readonly actor: string
  readonly lease: Lease
  readonly n: number
  /** Waited for before it writes. */
  readonly gate?: Promise<void>
  readonly onEnter?: () => void
}

async function inFence(stage: Stage, { actor, lease, n, gate, onEnter }: FencedWrite): Promise<void> {
  const client = await stage.client(actor)
  const work = async (tx: object): Promise<void> => {
    onEnter?.()
    await gate
    await client.run(tx, stage.facts.tools.fixture.write(stage.table, 1, n))
  }
  await client.locks.fenced(lease, work, { signal: stage.signal })
}

async function staleWriter(stage: Stage): Promise<void> {
  const first = await takeLease(stage, { actor: 'a', key: 'k', options: long })
  await deleteLease(stage, 'k')
  const second = await takeLease(stage, { actor: 'b', key: 'k', options: long })
  const stale = { does: 'write under a lease that another has', code: 'LOCK_LOST' } as const
  await expectRefusal(stage, stale, write(stage, 'a', first))
  stage.expect((await stage.committed()).get(1) === 10, 'what was written under a lost lease is stored')
  await write(stage, 'b', second)
  stage.expect((await stage.committed()).get(1) === 11, 'what its holder wrote is not stored')
  await second.release()
}

async function openWriter(stage: Stage): Promise<void> {
  const leave = deferred<void>()
  try {
    const { lease, writing } = await enterUnderLease(stage, leave)
    await untilExpired(stage, 'k')
    const taking = takeLease(stage, { actor: 'b', key: 'k', options: long })
    taking.catch(() => {}) // looked at below
    await stage.untilWaiting('who takes over a lease under which another writes', taking)
    leave.resolve()
    await writing
    const next = await taking
    stage.expect(next.fence > lease.fence, 'the fence has not risen')
    stage.expect((await stage.committed()).get(1) === 11, 'what was written under the lease is not stored')
    await next.release()
  } finally {
    leave.resolve()
  }
}

/** Opens a transaction under a short lease; a longer one, where the machine is too busy for that. */
async function enterUnderLease(
  stage: Stage,
  leave: Deferred<void>,
): Promise<{ readonly lease: Lease; readonly writing: Promise<void> }> {
  for (const ttlMs of [400, 2000, 8000]) {
    const lease = await takeLease(stage, { actor: 'a', key: 'k', options: { ttlMs, renew: false } })
    const entered = deferred<void>()
    const { resolve: onEnter } = entered
    const writing = inFence(stage, { actor: 'a', lease, n: 11, gate: leave.promise, onEnter })
    stage.note('a', 'write under the lease', writing).catch(entered.reject)
    try {
      await entered.promise
      return { lease, writing }
    } catch (error) {
      if (!(error instanceof LockLostError)) throw error
    }
  }
  throw new LockLostError('every lease was over before a transaction had begun')
}
