import { setTimeout as pause } from 'node:timers/promises'

import { LockLostError } from '../../core/errors.ts'
import { watchStandstill } from '../awake.ts'
import { renewsInWordsOnly } from '../controls/lease-defects.ts'
import { unlocked } from '../controls.ts'
import { defineLaw, type Law } from '../law.ts'
import type { Stage } from '../stage.ts'
import { deleteLease, expectLeased, long, seenLease, short, takeLease } from './taking-leases.ts'
import { expectRefusal, until } from './taking.ts'

/** How long a lease lasts, and who is told when it is over. */
export const lifetimeLaws: readonly Law[] = [
  defineLaw({
    id: 'L6',
    says: 'A lease that is not renewed expires on time, not earlier, and the next waiter gets it.',
    features: ['lease'],
    trial: takeover,
    control: unlocked,
  }),
  defineLaw({
    id: 'L7',
    says: 'A lease that is renewed outlasts its first expiry.',
    features: ['lease'],
    trial: renewed,
    control: renewsInWordsOnly,
  }),
  defineLaw({
    id: 'L8',
    says: 'The holder is told when its lease has expired.',
    features: ['lease'],
    trial: runningOut,
    control: unlocked,
  }),
  defineLaw({
    id: 'L9',
    says: 'Extending a lease that another client holds by now fails, and says that it is lost.',
    features: ['lease'],
    trial: takenAway,
    control: unlocked,
  }),
  defineLaw({
    id: 'L10',
    says: 'A lease with a minimum hold time stays held until then, however early it is released.',
    features: ['lease'],
    trial: heldAtLeast,
    control: unlocked,
  }),
]

/** What clocks of two kinds and whole milliseconds may differ by. */
const slackMs = 10

async function takeover(stage: Stage): Promise<void> {
  const first = await takeLease(stage, { actor: 'a', key: 'k', options: short(stage) })
  const lookedAt = performance.now()
  const seen = await seenLease(stage, 'k')
  // one that has expired by then need not be shown
  stage.expect(seen !== undefined || first.remainingMs() === 0, 'the database knows nothing of the lease')
  const leftMs = seen?.remainingMs ?? 0
  stage.expect(leftMs <= stage.briefMs + slackMs, `a lease of ${stage.briefMs} ms has ${leftMs} ms left`)
  const second = await takeLease(stage, { actor: 'b', key: 'k', options: long })
  const waitedMs = Math.round(performance.now() - lookedAt)
  stage.expect(waitedMs >= leftMs - slackMs, `taken over after ${waitedMs} ms, when ${leftMs} ms were left`)
  stage.expect(first.signal.aborted, 'the lease is taken over, and its first holder was not told')
  await second.release()
}

/**
 * A machine may be too busy to renew a short lease; the holder is then told, and a longer one has to last. One that was
 * lost while the machine stood still says nothing.
 */
async function renewed(stage: Stage): Promise<void> {
  const times = [800, 6000, 20_000]
  for (let ttlMs = times.shift(); ttlMs !== undefined; ttlMs = times.shift()) {
    const stoodStill = watchStandstill()
    const lease = await takeLease(stage, { actor: 'a', key: 'k', options: { ttlMs } })
    await pause(ttlMs * 1.2, undefined, { signal: stage.signal })
    const other = await takeLease(stage, {
      actor: 'b',
      key: 'k',
      options: { ...long, wait: 'nowait' },
    }).catch(() => undefined)
    const isLost = lease.signal.aborted
    stage.expect(isLost || other === undefined, 'another has the lease, although it is renewed')
    await Promise.all([lease.release(), other?.release()])
    if (!isLost) return
    if (stoodStill()) times.unshift(ttlMs)
  }
  stage.expect(false, 'a lease was lost although it is renewed')
}

async function runningOut(stage: Stage): Promise<void> {
  const lease = await takeLease(stage, { actor: 'a', key: 'k', options: short(stage) })
  const leftMs = lease.remainingMs()
  stage.expect(leftMs <= stage.briefMs, `a lease of ${stage.briefMs} ms is said to last for ${leftMs} ms`)
  const { signal } = lease
  let isTold = signal.aborted
  signal.addEventListener('abort', () => (isTold = true))
  await until(stage, 'the holder is told', async () => isTold)
  stage.expect(signal.reason instanceof LockLostError, 'the signal does not say that the lease is lost')
  stage.expect(lease.remainingMs() === 0, 'a lease whose holder was told is said to last')
  await lease.release()
}

async function takenAway(stage: Stage): Promise<void> {
  const first = await takeLease(stage, { actor: 'a', key: 'k', options: long })
  await expectLeased(stage, { actor: 'b', key: 'k' })
  await deleteLease(stage, 'k')
  const second = await takeLease(stage, { actor: 'b', key: 'k', options: long })
  const lost = { does: 'extend a lease that another has', code: 'LOCK_LOST' } as const
  await expectRefusal(stage, lost, first.extend())
  stage.expect(first.signal.aborted, 'the signal of a lost lease has not aborted')
  await second.extend()
  await second.release()
}

async function heldAtLeast(stage: Stage): Promise<void> {
  // longer than a busy machine takes for the rest: who is let in too early must be seen to be
  const holdAtLeastMs = 2000
  const began = performance.now()
  const first = await takeLease(stage, { actor: 'a', key: 'k', options: { ...long, holdAtLeastMs } })
  await first.release()
  const second = await takeLease(stage, { actor: 'b', key: 'k', options: long })
  const tookMs = Math.round(performance.now() - began)
  stage.expect(tookMs >= holdAtLeastMs - slackMs, `another had it after ${tookMs} ms`)
  await second.release()
}
