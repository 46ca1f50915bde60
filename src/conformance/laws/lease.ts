import { namesLikeLocks } from '../controls/lease-defects.ts'
import { unlocked } from '../controls.ts'
import { defineLaw, type Law } from '../law.ts'
import { session } from '../session-steps.ts'
import { clockLaws } from './lease-clock.ts'
import { fenceLaws } from './lease-fence.ts'
import { lifetimeLaws } from './lease-lifetime.ts'
import { expectLeased, takeLease } from './taking-leases.ts'

const a = session('a')
const b = session('b')
const c = session('c')

const exclusion: readonly Law[] = [
  defineLaw({
    id: 'L1',
    says: 'A lease keeps others out until it is released, and then the next one gets it.',
    features: ['lease'],
    schedule: [
      a.lease('k'),
      b.lease('k', { wait: 'nowait' }).fails('LOCK_NOT_AVAILABLE'),
      b.lease('k').waits(),
      a.release('k'),
      b.resumes(),
      b.release('k'),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'L2',
    says: 'A wait for a lease ends when its time is over, not earlier; a lease released in time is granted.',
    features: ['lease'],
    schedule: [
      a.lease('k'),
      b
        .lease('k', { wait: { timeoutMs: 200 } })
        .fails('LOCK_TIMEOUT')
        .notBefore(200),
      b.lease('k', { wait: { timeoutMs: 20_000 } }).waits(),
      a.release('k'),
      b.resumes(),
      b.release('k'),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'L3',
    says: 'A waiter that gives up on a lease holds nothing afterwards.',
    features: ['lease'],
    schedule: [
      a.lease('k'),
      b.lease('k').waits(),
      b.giveUp(),
      b.resumes().fails('any'),
      a.release('k'),
      c.lease('k'),
      c.release('k'),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'L4',
    says: 'Two calls of one client exclude each other just as two clients do.',
    features: ['lease'],
    trial: async (stage) => {
      const lease = await takeLease(stage, { actor: 'a', key: 'k' })
      await expectLeased(stage, { actor: 'a', key: 'k' })
      await lease.release()
    },
    control: unlocked,
  }),
  defineLaw({
    id: 'L5',
    says: 'A lease and a lock with the same key are independent.',
    features: ['lease'],
    unless: ({ dialect }) =>
      dialect.named.keptBy === 'lease' ? undefined : 'locks are kept elsewhere than leases here',
    schedule: [
      a.lease('k'),
      b.tryName('k').sees('granted'),
      b.acquire('k', { wait: 'nowait' }),
      b.release('k'),
      a.release('k'),
    ],
    control: namesLikeLocks,
  }),
]

/** Locks that end by themselves. */
export const leaseLaws: readonly Law[] = [...exclusion, ...lifetimeLaws, ...fenceLaws, ...clockLaws]
