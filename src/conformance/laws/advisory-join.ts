import type { LockKey } from '../../core/key.ts'
import { joinsAnyTransaction } from '../controls/name-defects.ts'
import { unlocked } from '../controls.ts'
import type { Facts } from '../facts.ts'
import { defineLaw, type Law } from '../law.ts'
import { session } from '../session-steps.ts'
import type { Stage } from '../stage.ts'
import type { Client } from '../subject.ts'
import { oneForAll } from './one-for-all.ts'

const a = session('a')
const b = session('b')
const c = session('c')

/** The levels at which a transaction may go on reading what was there before the lock. */
const notJoinable = ({ dialect }: Facts): readonly ('repeatable read' | 'serializable')[] =>
  (['repeatable read', 'serializable'] as const).filter((level) => !dialect.named.canJoin(level))

/** Several locks at once, and locks in a transaction that is under way. */
export const joinLaws: readonly Law[] = [
  defineLaw({
    id: 'A16',
    says: 'A lock taken in the middle of a transaction is held until that transaction ends.',
    features: ['advisory'],
    schedule: [
      a.begin({ isolation: 'read committed' }),
      a.lockName('k'),
      b.beginLocked('k').waits(),
      a.commit(),
      b.resumes(),
      b.commit(),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'A17',
    says: 'A transaction that reads, then waits for a lock, sees what the last holder committed.',
    features: ['advisory'],
    rows: { 1: 10 },
    unless: oneForAll,
    schedule: [
      a.beginLocked('k'),
      b.begin({ isolation: 'read committed' }),
      b.read(1).sees(10),
      b.lockName('k').waits(),
      a.write(1, 11),
      a.commit(),
      b.resumes(),
      b.read(1).sees(11),
      b.commit(),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'A18',
    says: 'A lock is refused to a transaction that would keep reading an older snapshot.',
    features: ['advisory'],
    rows: { 1: 10 },
    unless: (facts) =>
      notJoinable(facts).length > 0 ? undefined : 'no transaction goes on reading what is old here',
    schedule: (facts) =>
      notJoinable(facts).flatMap((isolation) => [
        a.begin({ isolation }),
        a.read(1).sees(10),
        a.lockName('k').fails('LOCK_UNSUPPORTED'),
      ]),
    control: joinsAnyTransaction,
  }),
  defineLaw({
    id: 'A19',
    says: 'Several locks are taken together, or none of them is.',
    features: ['advisory'],
    unless: oneForAll,
    schedule: [
      a.beginLocked('y'),
      b.beginLocked(['x', 'y', 'z'], { wait: 'nowait' }).fails('LOCK_NOT_AVAILABLE'),
      c.tryName('x').sees('granted'),
      c.tryName('z').sees('granted'),
      a.commit(),
      b.beginLocked(['x', 'y', 'z'], { wait: 'nowait' }),
      b.commit(),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'A20',
    says: 'Two clients that take the same locks in opposite orders do not deadlock.',
    features: ['advisory'],
    trial: inOppositeOrder,
    control: unlocked,
  }),
]

/**
 * Both want two locks that a third holds, and gives back at one moment. In the order of the callers each would then
 * have one of them, and neither ever the other.
 */
async function inOppositeOrder(stage: Stage): Promise<void> {
  const [x, y] = [stage.keyOf('x'), stage.keyOf('y')]
  const holder = await stage.actor('c')
  const holding = { verb: 'begin-locked', key: ['x', 'y'], options: { isolation: 'read committed' } } as const
  await stage.note('c', 'take both locks', holder.perform(holding))
  const waitsInServer = stage.facts.plan('advisory', { wait: 'block' })?.waiting.by === 'server'
  const runs: Promise<void>[] = []
  for (const [name, keys] of [
    ['a', [x, y]],
    ['b', [y, x]],
  ] as const) {
    const client = await stage.client(name)
    // not every server shows who waits, and on a busy machine whoever is slow looks like it
    const tried = await client.locks.tryLock(keys[0], async () => {}, { signal: stage.signal })
    stage.expect(!tried.acquired, 'a lock that is held was granted once more')
    const run = stage.note(name, 'take both locks', takeBoth(client, keys, stage.signal))
    run.catch(() => {}) // looked at below, unless the law is broken before
    const waiters = runs.push(run)
    await stage.untilWaiting('who wants both locks', run, waitsInServer ? waiters : 0)
  }
  await stage.note('c', 'commit', holder.perform({ verb: 'commit' }))
  await Promise.all(runs)
}

/** A deadlock is not to be hidden by another attempt. */
function takeBoth({ locks }: Client, keys: readonly LockKey[], signal: AbortSignal): Promise<void> {
  return locks.withLocks(keys, async () => {}, { attempts: 1, isolation: 'read committed', signal })
}
