import { afterEach, describe, expect, test } from 'vitest'

import { CommitOutcomeUnknownError, LockLostError, LockTimeoutError } from '../../src/core/errors.ts'
import { describeClients, jobs, type Client, type Scene } from '../bodies/client.ts'
import { startCuttingProxy, type CuttingProxy } from '../entries/cutting-proxy.ts'
import { caught } from '../entries/stage.ts'

/** A pool behind a network that can fall silent, and an abort that the test can use. */
interface Line {
  readonly client: Client
  readonly proxy: CuttingProxy
  /** Names of its own: some servers know no databases in the names of locks. */
  readonly key: (word: string) => readonly string[]
  readonly abort: (why: Error) => void
  readonly signal: AbortSignal
}

/** Something that is under way when the network falls silent. How it ends is all that is tested: the test itself has a limit. */
interface Operation {
  readonly title: string
  readonly run: (line: Line, begin: string) => Promise<unknown>
  readonly ends: unknown
}

const mistake = new Error('a mistake of the application')
const enough = new Error('enough')
const wait = { timeoutMs: 1000 }
const change = 'update item set n = n + 1'
const timedOut = expect.any(LockTimeoutError)

const operations: readonly Operation[] = [
  {
    title: 'BEGIN, with a budget',
    run: async ({ client, proxy }, begin) => {
      void proxy.cutAt(begin, 'silent')
      return client.locks.transaction((tx) => client.query(tx, change), { budgetMs: 1000 })
    },
    ends: timedOut,
  },
  {
    title: 'BEGIN, which is aborted',
    run: async ({ client, proxy, abort, signal }, begin) => {
      void proxy.cutAt(begin, 'silent').then(() => abort(enough))
      return client.locks.transaction((tx) => client.query(tx, change), { signal })
    },
    ends: enough,
  },
  {
    title: "the work's own statement, which is aborted",
    run: async ({ client, proxy, abort, signal }) => {
      void proxy.cutAt(change, 'silent').then(() => abort(enough))
      return client.locks.transaction((tx) => client.query(tx, change), { signal })
    },
    ends: enough,
  },
  {
    title: 'COMMIT, which is aborted',
    run: async ({ client, proxy, abort, signal }) => {
      void proxy.cutAt('COMMIT', 'silent').then(() => abort(enough))
      return client.locks.transaction((tx) => client.query(tx, change), { signal })
    },
    ends: expect.any(CommitOutcomeUnknownError),
  },
  {
    title: 'COMMIT, with a budget',
    run: async ({ client, proxy }) => {
      void proxy.cutAt('COMMIT', 'silent')
      return client.locks.transaction((tx) => client.query(tx, 'select 2'), {
        budgetMs: 10_000, // enough to come to COMMIT on a slow machine
      })
    },
    ends: expect.any(CommitOutcomeUnknownError),
  },
  {
    title: 'ROLLBACK',
    run: async ({ client, proxy }) => {
      void proxy.cutAt('ROLLBACK', 'silent')
      return client.locks.transaction(async (tx) => {
        await client.query(tx, 'select 3')
        throw mistake
      })
    },
    ends: mistake,
  },
  {
    title: 'withLock',
    run: async ({ client, proxy, key }) => {
      proxy.stall()
      return client.locks.withLock(key('silent'), (tx) => client.query(tx, 'select 4'), { wait })
    },
    ends: timedOut,
  },
  {
    title: 'withLock on a pool that is not known yet',
    run: async ({ client, proxy, key }) => {
      proxy.stall()
      return client.locks.withLock(key('silent'), (tx) => client.query(tx, 'select 4'), { wait })
    },
    ends: timedOut,
  },
  {
    title: 'tryLock',
    run: async ({ client, proxy, key }) => {
      proxy.stall()
      return client.locks.tryLock(key('silent'), (tx) => client.query(tx, 'select 5'))
    },
    ends: timedOut,
  },
  {
    title: 'lock in a transaction',
    run: async ({ client, proxy, key }) =>
      client.locks.transaction(
        async (tx) => {
          await client.query(tx, 'select 6')
          proxy.stall()
          return client.locks.lock(tx, key('silent'), { wait })
        },
        { isolation: 'read committed' },
      ),
    ends: timedOut,
  },
  {
    title: 'rows',
    run: async ({ client, proxy }) =>
      client.locks.transaction(async (tx) => {
        await client.query(tx, 'select 7')
        proxy.stall()
        return client.lockItem(tx, 1, { wait })
      }),
    ends: timedOut,
  },
  {
    title: 'acquire',
    run: async ({ client, proxy, key }) => {
      proxy.stall()
      return client.locks.acquire(key('silent'), { wait })
    },
    ends: timedOut,
  },
  {
    title: 'acquire beside another lock',
    run: async ({ client, proxy, key }) => {
      await client.locks.acquire(key('other')).then((held) => held.signal.aborted)
      proxy.stall()
      return client.locks.acquire(key('silent'), { wait })
    },
    ends: timedOut,
  },
  {
    title: 'release of a lock',
    run: async ({ client, proxy, key }) => {
      const held = await client.locks.acquire(key('silent'))
      proxy.stall()
      return held.release()
    },
    ends: expect.any(LockLostError),
  },
  {
    title: 'lease',
    run: async ({ client, proxy }) => {
      proxy.stall()
      return client.locks.lease('silent', { ttlMs: 2000, wait })
    },
    ends: timedOut,
  },
  {
    title: 'renewal of a lease',
    run: async ({ client, proxy }) => {
      const lease = await client.locks.lease('renewed', { ttlMs: 2000 })
      proxy.stall()
      return lease.extend()
    },
    ends: expect.any(LockLostError),
  },
  {
    title: 'release of a lease',
    run: async ({ client, proxy }) => {
      const lease = await client.locks.lease('released', { ttlMs: 2000 })
      proxy.stall()
      return lease.release()
    },
    ends: expect.any(Error),
  },
  {
    title: 'claim',
    run: async ({ client, proxy }) => {
      proxy.stall()
      return client.locks.claim(jobs)
    },
    ends: timedOut,
  },
  {
    title: 'claim, which is aborted',
    run: async ({ client, proxy, abort, signal }) => {
      void proxy.cutAt('job', 'silent').then(() => abort(enough))
      return client.locks.claim(jobs, { signal })
    },
    ends: enough,
  },
  {
    title: 'complete',
    run: async ({ client, proxy }) => {
      const [job] = await client.locks.claim(jobs)
      proxy.stall()
      return job?.complete()
    },
    ends: timedOut,
  },
]

// side by side: each of them waits for half a minute for a server that says nothing
describe.concurrent('before a silent network', () => {
  describeClients(specs)
})

function specs(scene: Scene): void {
  const proxies: CuttingProxy[] = []
  afterEach(async () => {
    for (const proxy of proxies.splice(0)) await proxy.close()
  })

  const begin = scene.name === 'postgres' ? 'BEGIN' : 'START TRANSACTION'
  const key = (word: string): readonly string[] => [scene.title, word]
  const open = async (isKnown: boolean): Promise<Line> => {
    const proxy = await startCuttingProxy(scene.engine.server.url)
    proxies.push(proxy)
    const client = scene.connect(2, proxy.url)
    // what is asked of a server once is known from here on
    if (isKnown) await client.locks.withLock(key('known'), (tx) => client.query(tx, 'select 1'))
    const aborting = new AbortController()
    return { client, proxy, key, abort: (why) => aborting.abort(why), signal: aborting.signal }
  }

  // at once: each of them waits for several seconds for a server that says nothing
  test('every operation ends within its limit and the grace', async () => {
    const outcomes = operations.map(async ({ title, run }) => {
      const line = await open(!title.includes('not known'))
      const running = run(line, begin)
      return { title, ended: await caught(running) }
    })
    const seen = await Promise.all(outcomes)
    expect(seen).toEqual(operations.map(({ title, ends }) => ({ title, ended: ends })))
  })
}
