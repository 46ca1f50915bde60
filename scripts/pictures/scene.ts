import { once } from 'node:events'

import pg from 'pg'

import { createLocks } from '../../src/entries/pg.ts'
import { until } from '../../test/engines/until.ts'

/**
 * Shows somebody a database in which locks are held and waited for: an upload that two others wait for, and a transfer
 * that holds an account which another wants.
 */
export async function withScene<T>(url: string, show: () => Promise<T>): Promise<T> {
  const open = (name: string): pg.Pool =>
    new pg.Pool({ connectionString: url, application_name: name, max: 4 })
  const pools = [open('web-1'), open('web-2'), open('worker')] as const
  const [first, second, third] = [createLocks(pools[0]), createLocks(pools[1]), createLocks(pools[2])]
  await pools[0].query('CREATE TABLE account (id integer PRIMARY KEY, balance integer NOT NULL)')
  await pools[0].query('INSERT INTO account VALUES (1, 100), (2, 100)')
  const end = new AbortController()
  const ended = once(end.signal, 'abort')
  const account = { table: 'account', key: { id: 1 } }
  const busy = [
    await held((started) =>
      first.withLock(['image-upload', 7], async () => {
        started()
        await ended
      }),
    ),
    await held((started) =>
      third.transaction(async (tx) => {
        await third.rows(tx, account)
        started()
        await ended
      }),
    ),
    first.withLock(['image-upload', 7], async () => {}),
    second.withLock(['image-upload', 7], async () => {}),
    second.transaction((tx) => second.rows(tx, account)),
  ]
  const lease = await third.lease('nightly-report', { ttlMs: 30_000 })
  try {
    const isWaiting = async (): Promise<boolean> => {
      const { sessions } = await third.inspect()
      return sessions.filter(({ waits }) => waits !== undefined).length === 3
    }
    await until(isWaiting, 'three sessions wait')
    return await show()
  } finally {
    await lease.release()
    end.abort()
    await Promise.all(busy.map((one) => ('ended' in one ? one.ended : one)))
    await Promise.all(pools.map((pool) => pool.end()))
  }
}

interface Held {
  readonly ended: Promise<unknown>
}

/** Gives what is under way once it has started: as an object, since a promise would be waited for to its end. */
function held(begin: (started: () => void) => Promise<unknown>): Promise<Held> {
  return new Promise((resolve, reject) => {
    const running: Promise<unknown> = begin(() => setImmediate(() => resolve({ ended: running })))
    running.catch(reject)
  })
}
