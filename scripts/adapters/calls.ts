import type { LockKey } from '../../src/core/key.ts'
import { LockError, RetryableTransactionError } from '../../src/core/errors.ts'
import { deferred } from '../../src/conformance/deferred.ts'
import { defineLaw, type TrialLaw } from '../../src/conformance/law.ts'
import type { Stage } from '../../src/conformance/stage.ts'
import type { Client, Sabotage } from '../../src/conformance/subject.ts'

/*
 * What is built on the locks and has no chapter of laws: that each of it works through an adapter, once, on a real
 * database. They are written as laws, so that they are run, judged and cleaned up after like these.
 */

type Calls = Client['locks']

/** A client whose locks answer without doing anything. */
function pretending(does: string, calls: (locks: Calls) => Readonly<Record<string, unknown>>): Sabotage {
  return { does, client: (client) => ({ ...client, locks: { ...client.locks, ...calls(client.locks) } }) }
}

/** The error of work that has to fail. */
async function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  )
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof LockError && error.code === code
}

const versions = defineLaw({
  id: 'versions',
  says: 'A row that another has changed since it was read is not changed.',
  features: ['retry'],
  trial: async (stage) => {
    const { fixture } = stage.facts.tools
    const [a, b] = [await stage.client('a'), await stage.client('b')]
    const table = await stage.addTable('versioned', fixture.createQueue)
    await stage.ground.command(fixture.insert(table, { id: 1, n: 1, state: 'new', attempts: 0 }))
    const [column = 'id'] = Object.keys(fixture.target(table, 1).key)
    const change = ({ locks }: Client, expected: number): Promise<number> => {
      const row = { table, key: { [column]: 1 }, version: 'n' }
      const once = { attempts: 1 }
      return locks.transaction(
        (tx) => locks.updateVersioned(tx, { ...row, expected, set: { state: 'old' } }),
        once,
      )
    }
    stage.expect((await change(b, 1)) === 2, 'the first change gives version 2')
    const error = await errorOf(change(a, 1))
    stage.expect(
      error instanceof RetryableTransactionError,
      `the second was not told of the first: ${String(error)}`,
    )
    stage.expect((await change(a, 2)) === 3, 'a change of what was read again gives version 3')
  },
  control: pretending('changes a row whatever its version', () => ({ updateVersioned: async () => 2 })),
})

const once = defineLaw({
  id: 'once',
  says: 'What is done under a key is done once, and the second is told.',
  features: ['retry'],
  trial: async (stage) => {
    const key = stage.keyOf('once')
    let done = 0
    for (const [name, isFirst] of [
      ['a', true],
      ['b', false],
      ['a', false],
    ] as const) {
      const { locks } = await stage.client(name)
      const answer = await locks.transaction((tx) => locks.once(tx, key, async () => (done += 1)))
      stage.expect(answer.isFirst === isFirst, `${name} is told ${answer.isFirst}`)
    }
    stage.expect(done === 1, `it was done ${done} times`)
  },
  control: pretending('keeps no marks', () => ({
    once: async (_tx: object, _key: LockKey, work: () => Promise<unknown>) => ({
      isFirst: true,
      value: await work(),
    }),
  })),
})

/** Starts something that one node does, and looks from another whether that is kept out. */
async function oneOfTwo(
  stage: Stage,
  start: (locks: Calls, key: LockKey, body: () => Promise<void>) => Promise<void>,
  want: (locks: Calls, key: LockKey) => Promise<unknown>,
): Promise<void> {
  const [a, b] = [await stage.client('a'), await stage.client('b')]
  const key = stage.keyOf('node')
  let error: unknown
  let runs = 0
  await start(a.locks, key, async () => {
    runs += 1
    error = await errorOf(want(b.locks, key))
  })
  stage.expect(runs === 1, `it ran ${runs} times`)
  stage.expect(hasCode(error, 'LOCK_NOT_AVAILABLE'), `another node was not kept out: ${String(error)}`)
}

const singleton = defineLaw({
  id: 'singleton',
  says: 'While one node runs a job, no other can.',
  features: ['lease'],
  trial: async (stage) => {
    const stop = new AbortController()
    await oneOfTwo(
      stage,
      (locks, key, body) =>
        locks.singleton(
          key,
          async () => {
            await body()
            stop.abort()
          },
          { everyMs: 1, signal: stop.signal },
        ),
      (locks, key) => locks.lease(key, { wait: 'nowait' }),
    )
  },
  control: pretending('runs the job without a lease', () => ({
    singleton: async (_key: LockKey, work: () => Promise<unknown>) => void (await work()),
  })),
})

const leader = defineLaw({
  id: 'leader',
  says: 'While one node leads, no other can.',
  features: ['advisory-session'],
  trial: async (stage) => {
    const stop = new AbortController()
    await oneOfTwo(
      stage,
      (locks, key, body) =>
        locks.leader(key, {
          signal: stop.signal,
          onElected: async () => {
            await body()
            stop.abort()
          },
        }),
      (locks, key) => locks.acquire(key, { wait: 'nowait' }),
    )
  },
  control: pretending('leads without a lock', () => ({
    leader: async (_key: LockKey, { onElected }: { readonly onElected: () => Promise<unknown> }) =>
      void (await onElected()),
  })),
})

const inspect = defineLaw({
  id: 'inspect',
  says: 'A named lock that somebody holds is seen, or it is said what cannot be seen.',
  features: ['advisory'],
  trial: async (stage) => {
    const [a, b] = [await stage.client('a'), await stage.client('b')]
    const [held, looked] = [deferred<void>(), deferred<void>()]
    const holding = a.locks.withLock(stage.keyOf('seen'), async () => {
      held.resolve()
      await looked.promise
    })
    try {
      await Promise.race([held.promise, holding])
      // not in the chain of calls that holds it: on one handle that would be refused
      const { sessions, leases, unseen } = await b.locks.inspect()
      const isSeen = leases.length > 0 || sessions.some(({ holds }) => holds.length > 0)
      stage.expect(isSeen || unseen.length > 0, 'nothing is seen, and nothing is said to be hidden')
    } finally {
      looked.resolve()
      await holding
    }
  },
  control: pretending('sees nothing', () => ({
    inspect: async () => ({ sessions: [], leases: [], unseen: [] }),
  })),
})

const attest = defineLaw({
  id: 'attest',
  says: 'The server is tried on two connections, where the pool has two, and no lock is found broken.',
  features: ['advisory'],
  trial: async (stage) => {
    const { locks } = await stage.client('a')
    const { capabilities } = await locks.attest({ signal: stage.signal })
    const broken = capabilities.filter(({ observed }) => observed === 'broken')
    stage.expect(broken.length === 0, `broken: ${broken.map(({ capability }) => capability).join(', ')}`)
    stage.expect(capabilities.length > 0, 'nothing is said')
  },
  control: pretending('tries nothing', () => ({ attest: async () => ({ capabilities: [] }) })),
})

export const calls: readonly TrialLaw[] = [versions, once, singleton, leader, inspect, attest]
