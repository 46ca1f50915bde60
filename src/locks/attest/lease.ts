import type { LockKey } from '../../core/key.ts'
import type { Lease } from '../lease/lease.ts'
import { attempt, isKeptOut, type Attempt } from './attempt.ts'
import type { Ground, TrialLocks } from './ground.ts'
import { broken, holds, untried, verdictOfError, verdictOfLoser, type Verdict } from './verdict.ts'

/** Should the holder die on the way, it ends by itself. */
const ttlMs = 10_000

/** A lease, whose row is there from then on. */
export async function tryLease<Tx>(ground: Ground<Tx>, key: LockKey): Promise<Verdict> {
  const { a, b } = ground
  const first = await take(ground, a, key)
  if (first.outcome !== 'granted') {
    return first.outcome === 'failed'
      ? verdictOfError(first.error)
      : untried('it was refused although nobody held it')
  }
  const second = await takeBeside(ground, first.value, key)
  if (second.outcome === 'granted') await second.value.release()
  if (!isKeptOut(second)) return verdictOfLoser(second, 'two held the same lease at the same time')
  return judgeNext(first.value, await take(ground, b, key))
}

/** Asks for it while it is held, and then gives it back. */
async function takeBeside<Tx>(ground: Ground<Tx>, held: Lease, key: LockKey): Promise<Attempt<Lease>> {
  try {
    return await take(ground, ground.b, key)
  } finally {
    await held.release()
  }
}

async function judgeNext({ fence }: Lease, next: Attempt<Lease>): Promise<Verdict> {
  if (next.outcome !== 'granted') return verdictOfLoser(next, 'it was still held after its release')
  await next.value.release()
  return next.value.fence > fence
    ? holds('a second holder was kept out, and got it with a higher fence after the release')
    : broken(`the fence went from ${fence} to ${next.value.fence}: it has to rise with every holder`)
}

/**
 * Not ended by the caller's abort: a grant that is under way then would be stored behind the removal of its row. Whoever
 * does not wait is answered soon.
 */
async function take<Tx>(
  { server, signal: abort }: Ground<Tx>,
  locks: TrialLocks<Tx>,
  key: LockKey,
): Promise<Attempt<Lease>> {
  const taken = await attempt({ server, signal: undefined }, (signal) =>
    locks.lease(key, { ttlMs, wait: 'nowait', renew: false, signal }),
  )
  if (abort?.aborted === true && taken.outcome === 'granted') await taken.value.release()
  abort?.throwIfAborted()
  return taken
}
