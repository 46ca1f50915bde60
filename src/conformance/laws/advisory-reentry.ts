import { sloppyNames } from '../controls/name-defects.ts'
import { unlocked } from '../controls.ts'
import { deferred } from '../deferred.ts'
import { defineLaw, type Law } from '../law.ts'
import type { Stage } from '../stage.ts'
import { describeValue } from '../trace.ts'
import { lookAlikes, twins } from './look-alikes.ts'
import { oneForAll } from './one-for-all.ts'
import { expectRefusal } from './taking.ts'

/** What one process does to itself, and what names mean. */
export const reentryLaws: readonly Law[] = [
  defineLaw({
    id: 'A21',
    says: 'Asking again for a lock you already hold is an error, not a hang.',
    features: ['advisory'],
    trial: askAgain,
    control: unlocked,
  }),
  defineLaw({
    id: 'A22',
    says: 'Two calls of one client exclude each other just as two clients do.',
    features: ['advisory'],
    trial: twiceInOneClient,
    control: unlocked,
  }),
  defineLaw({
    id: 'A23',
    says: 'An error thrown by the work reaches the caller unchanged, and releases the lock.',
    features: ['advisory'],
    rows: { 1: 10 },
    trial: failingWork,
    control: unlocked,
  }),
  defineLaw({
    id: 'A24',
    says: 'Names that look alike are different locks, and one name is one lock however it is written.',
    features: ['advisory'],
    unless: oneForAll,
    trial: alike,
    control: sloppyNames,
  }),
]

async function askAgain(stage: Stage): Promise<void> {
  const { locks } = await stage.client('a')
  const key = stage.keyOf('k')
  const refused = (does: string, work: Promise<unknown>): Promise<void> =>
    expectRefusal(stage, { does, code: 'LOCK_USAGE' }, work)
  await locks.withLock(
    key,
    async (tx) => {
      await refused('lock inside of withLock', locks.lock(tx, key))
      await refused('acquire inside of withLock', locks.acquire(key))
      await refused(
        'withLock inside of itself',
        locks.withLock(key, async () => {}),
      )
      await locks.lock(tx, key, { reentry: 'join' })
    },
    { signal: stage.signal },
  )
}

async function twiceInOneClient(stage: Stage): Promise<void> {
  const [own, other] = [await stage.client('a'), await stage.client('b')]
  const { locks, size } = own
  const key = stage.keyOf('k')
  const [entered, leave] = [deferred<void>(), deferred<void>()]
  const { signal } = stage
  const first = locks.withLock(
    key,
    () => {
      entered.resolve()
      return leave.promise
    },
    { signal },
  )
  first.catch(entered.reject)
  try {
    await entered.promise
    // who has but one connection waits for that, whatever it asks for
    for (const client of [other, ...(size > 1 ? [own] : [])]) {
      const tried = await client.locks.tryLock(key, async () => 'granted', { signal })
      stage.expect(!tried.acquired, 'a lock that is held was granted once more')
    }
    const second = locks.withLock(key, async () => {}, { signal })
    await stage.untilWaiting('the second call of the client', second)
    leave.resolve()
    await Promise.all([first, second])
  } finally {
    leave.resolve()
  }
}

async function failingWork(stage: Stage): Promise<void> {
  const [a, b] = [await stage.client('a'), await stage.client('b')]
  const { fixture } = stage.facts.tools
  const key = stage.keyOf('k')
  const failure = new Error('the work failed')
  const work = async (tx: object): Promise<never> => {
    await a.run(tx, fixture.write(stage.table, 1, 11))
    throw failure
  }
  const caught: unknown = await a.locks
    .withLock(key, work, { signal: stage.signal })
    .catch((error: unknown) => error)
  stage.expect(caught === failure, `the caller was told ${describeValue(caught)}`)
  const after = await b.locks.tryLock(key, (tx) => b.run(tx, fixture.read(stage.table, 1)))
  stage.expect(after.acquired, 'the lock is still held after the work has failed')
  const seen = after.acquired ? after.value[0]?.n : undefined
  stage.expect(Number(seen) === 10, 'what the failed work wrote is stored')
}

async function alike(stage: Stage): Promise<void> {
  const [a, b] = [await stage.client('a'), await stage.client('b')]
  const { signal } = stage
  for (const pair of [...lookAlikes(stage), ...twins(stage)]) {
    const tryOther = () => b.locks.tryLock(pair.other, async () => true, { signal })
    const { acquired } = await a.locks.withLock(pair.one, tryOther, { signal })
    const is = acquired ? 'two locks' : 'one lock'
    stage.expect(is === pair.are, `${pair.written}: ${is}, not ${pair.are}`)
  }
}
