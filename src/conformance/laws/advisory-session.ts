import { sloppyNames } from '../controls/name-defects.ts'
import { unlocked } from '../controls.ts'
import { onSession } from '../ground.ts'
import type { Facts } from '../facts.ts'
import { defineLaw, type Law } from '../law.ts'
import { session } from '../session-steps.ts'
import type { Stage } from '../stage.ts'
import { lookAlikes, twins } from './look-alikes.ts'
import { idsOf } from './session-ids.ts'
import { expectRefusal, takeHeld, until } from './taking.ts'

const a = session('a')
const b = session('b')
const c = session('c')

const noSharing = ({ plan }: Facts): string | undefined =>
  plan('advisory', { mode: 'shared' })?.mode === 'shared' ? undefined : 'a lock is never shared here'

const noConnection = ({ canKill, dialect }: Facts): string | undefined =>
  canKill && dialect.named.keptBy === 'connection' ? undefined : 'no connection keeps the lock here'

const holding: readonly Law[] = [
  defineLaw({
    id: 'S1',
    says: 'An acquired lock keeps others out until it is released, and then the next one gets it.',
    features: ['advisory-session'],
    schedule: [a.acquire('k'), b.acquire('k').waits(), a.release('k'), b.resumes(), b.release('k')],
    control: unlocked,
  }),
  defineLaw({
    id: 'S2',
    says: "A session lock outlives its holder's transactions, however they end.",
    features: ['advisory-session'],
    rows: { 1: 10 },
    schedule: [
      a.acquire('k'),
      a.begin(),
      a.write(1, 11),
      a.commit(),
      b.acquire('k', { wait: 'nowait' }).fails('LOCK_NOT_AVAILABLE'),
      a.begin(),
      a.write(1, 12),
      a.rollBack(),
      b.acquire('k', { wait: 'nowait' }).fails('LOCK_NOT_AVAILABLE'),
      a.release('k'),
      b.acquire('k', { wait: 'nowait' }),
      b.release('k'),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'S3',
    says: 'A session lock and a transaction lock of the same name exclude each other.',
    features: ['advisory-session', 'advisory'],
    schedule: [
      a.acquire('k'),
      b.tryName('k').sees('busy'),
      b.beginLocked('k').waits(),
      a.release('k'),
      b.resumes(),
      a.acquire('k').waits(),
      b.commit(),
      a.resumes(),
      a.release('k'),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'S4',
    says: 'Several session locks can be released one by one.',
    features: ['advisory-session'],
    schedule: [
      a.acquire('x'),
      a.acquire('y'),
      a.release('x'),
      b.acquire('x', { wait: 'nowait' }),
      b.acquire('y', { wait: 'nowait' }).fails('LOCK_NOT_AVAILABLE'),
      a.release('y'),
      b.release('x'),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'S5',
    says: "When the lock's connection dies, the next waiter gets the lock and the holder is told.",
    features: ['advisory-session'],
    unless: noConnection,
    trial: dyingHolder,
    control: unlocked,
  }),
]

const waiting: readonly Law[] = [
  defineLaw({
    id: 'S6',
    says: 'A wait with a timeout ends when the time is over, not earlier; a lock released in time is granted.',
    features: ['advisory-session'],
    schedule: [
      a.acquire('k'),
      b
        .acquire('k', { wait: { timeoutMs: 200 } })
        .fails('LOCK_TIMEOUT')
        .notBefore(200),
      b.acquire('k', { wait: { timeoutMs: 20_000 } }).waits(),
      a.release('k'),
      b.resumes(),
      b.release('k'),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'S7',
    says: 'A waiter that gives up holds nothing afterwards, and blocks nobody.',
    features: ['advisory-session'],
    schedule: [
      a.acquire('k'),
      b.acquire('k').waits(),
      b.giveUp(),
      b.resumes().fails('any'),
      a.release('k'),
      c.acquire('k'),
      c.release('k'),
    ],
    control: unlocked,
  }),
  defineLaw({
    id: 'S8',
    says: 'Several clients can hold shared locks of one name, which exclude an exclusive lock.',
    features: ['advisory-session'],
    unless: noSharing,
    schedule: [
      a.acquire('k', { mode: 'shared' }),
      b.acquire('k', { mode: 'shared', wait: 'nowait' }),
      c.acquire('k', { wait: 'nowait' }).fails('LOCK_NOT_AVAILABLE'),
      a.release('k'),
      c.acquire('k').waits(),
      b.release('k'),
      c.resumes(),
      c.release('k'),
    ],
    control: unlocked,
  }),
]

const identity: readonly Law[] = [
  defineLaw({
    id: 'S9',
    says: 'Two calls of one client exclude each other just as two clients do.',
    features: ['advisory-session'],
    trial: async (stage) => {
      const held = await takeHeld(stage, { actor: 'a', key: 'k' })
      await expectBusy(stage, 'a', 'the client that holds it')
      await held.release()
    },
    control: unlocked,
  }),
  defineLaw({
    id: 'S10',
    says: "Releasing twice does not release somebody else's lock.",
    features: ['advisory-session'],
    trial: releaseTwice,
    control: unlocked,
  }),
  defineLaw({
    id: 'S11',
    says: 'Names that look alike are different locks, and one name is one lock however it is written.',
    features: ['advisory-session'],
    trial: alike,
    control: sloppyNames,
  }),
]

/** Named locks that are held until they are released. */
export const advisorySessionLaws: readonly Law[] = [...holding, ...waiting, ...identity]

function expectBusy(stage: Stage, actor: string, does: string): Promise<void> {
  const taking = takeHeld(stage, { actor, key: 'k', options: { wait: 'nowait' } })
  return expectRefusal(stage, { does, code: 'LOCK_NOT_AVAILABLE' }, taking)
}

async function releaseTwice(stage: Stage): Promise<void> {
  const first = await takeHeld(stage, { actor: 'a', key: 'k' })
  await expectBusy(stage, 'b', 'while the first holds it')
  await first.release()
  const second = await takeHeld(stage, { actor: 'b', key: 'k' })
  await first.release()
  await expectBusy(stage, 'a', 'after the first was released once more')
  await second.release()
}

async function dyingHolder(stage: Stage): Promise<void> {
  const client = await stage.client('a')
  const before = await idsOf(stage, client, client.size)
  const held = await takeHeld(stage, { actor: 'a', key: 'k' })
  await expectBusy(stage, 'b', 'while it is held')
  const free = await idsOf(stage, client, client.size - 1)
  const waiter = takeHeld(stage, { actor: 'b', key: 'k' })
  await stage.untilWaiting('who wants a lock that another holds', waiter)
  for (const id of before) if (!free.includes(id)) await end(stage, id)
  const next = await waiter
  // a driver that tells of broken connections tells the holder too; otherwise it learns of it when it next asks
  const tells = await onSession(client, async ({ onLost }) => onLost !== undefined)
  if (tells) await until(stage, 'the holder is told', async () => held.signal.aborted)
  await expectRefusal(stage, { does: 'a release after it was lost', code: 'LOCK_LOST' }, held.release())
  stage.expect(held.signal.aborted, 'the signal of a lock that was lost has not aborted')
  await next.release()
}

async function end(stage: Stage, id: string): Promise<void> {
  const statement = stage.facts.tools.inspector.kill?.(id)
  if (statement !== undefined)
    await stage.note('server', `end connection ${id}`, stage.ground.command(statement))
}

async function alike(stage: Stage): Promise<void> {
  const [first, second] = [await stage.client('a'), await stage.client('b')]
  for (const pair of [...lookAlikes(stage), ...twins(stage)]) {
    const held = await first.locks.acquire(pair.one, { signal: stage.signal })
    stage.atEnd(() => held.release())
    const tried = await second.locks.acquire(pair.other, { wait: 'nowait' }).catch(() => undefined)
    await tried?.release()
    await held.release()
    const are = tried === undefined ? 'one lock' : 'two locks'
    stage.expect(are === pair.are, `${pair.written}: ${are}, not ${pair.are}`)
  }
}
