import type { Session } from '../core/session.ts'
import type { DialectTools } from '../dialects/tools.ts'
import type { Client, Sabotage } from './subject.ts'

/**
 * Locks nothing at all: every statement is on its own, names are granted to everybody.
 *
 * The control of most laws. It is the same on every engine, also on those where each transaction is a lock.
 */
export const unlocked: Sabotage = {
  does: 'takes no lock and opens no transaction',
  client: withoutLocks,
}

function withoutLocks(client: Client, { fixture }: DialectTools): Client {
  const open = new WeakMap<object, Session<object>>()
  const bare = async <T>(work: (tx: object) => Promise<T>): Promise<T> => {
    const session = await client.sessions.open()
    const tx = {}
    open.set(tx, session)
    try {
      return await work(tx)
    } finally {
      await session.release()
    }
  }
  const run: Client['run'] = async (tx, statement) => {
    const session = open.get(tx)
    if (session === undefined) throw new TypeError('that is no transaction of this client')
    return session.run(statement)
  }
  const locks = {
    ...client.locks,
    transaction: bare,
    withLock: async (_key: unknown, work: (tx: object) => Promise<unknown>) => bare(work),
    withLocks: async (_keys: unknown, work: (tx: object) => Promise<unknown>) => bare(work),
    tryLock: async (_key: unknown, work: (tx: object) => Promise<unknown>) => ({
      acquired: true,
      value: await bare(work),
    }),
    lock: freeHandle,
    table: freeHandle,
    acquire: freeHandle,
    lease: freeHandle,
    semaphore: () => ({ acquire: freeHandle, tryAcquire: freeHandle }),
    fenced: async (_lease: unknown, work: (tx: object) => Promise<unknown>) => bare(work),
    rows: async (tx: object, { table, key }: { table: string; key: Record<string, number | number[]> }) => {
      const ids = Object.values(key).flat()
      return (await Promise.all(ids.map((id) => run(tx, fixture.read(table, id))))).flat()
    },
  } as unknown as Client['locks']
  return { ...client, locks, run }
}

/** What a lock that nobody holds looks like from outside. */
async function freeHandle(): Promise<object> {
  return {
    fence: 1,
    owner: 'nobody',
    signal: new AbortController().signal,
    remainingMs: () => 1000,
    throwIfLost: () => {},
    extend: async () => {},
    release: async () => {},
    slot: 0,
  }
}
