import type { Session } from '../core/session.ts'
import type { Row, SqlStatement } from '../core/statement.ts'
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
  const under = (_lock: unknown, work: (tx: object) => Promise<unknown>): Promise<unknown> => bare(work)
  const locks = {
    ...client.locks,
    transaction: bare,
    withLock: under,
    withLocks: under,
    batch: (_key: unknown, statements: readonly SqlStatement[]) =>
      bare((tx) => runEach(statements, ({ sql, params }) => run(tx, { sql, params }))),
    tryLock: async (...taking: Parameters<typeof under>) => ({
      acquired: true,
      value: await under(...taking),
    }),
    lock: freeHandle,
    table: freeHandle,
    acquire: freeHandle,
    lease: freeHandle,
    semaphore: () => ({ acquire: freeHandle, tryAcquire: freeHandle }),
    fenced: under,
    rows: async (tx: object, { table, key }: { table: string; key: Record<string, number | number[]> }) =>
      (await runEach(Object.values(key).flat(), (id) => run(tx, fixture.read(table, id)))).flat(),
  } as unknown as Client['locks']
  return { ...client, locks, run }
}

async function runEach<T>(
  all: readonly T[],
  run: (one: T) => Promise<readonly Row[]>,
): Promise<readonly (readonly Row[])[]> {
  const answers: (readonly Row[])[] = []
  for (const one of all) answers.push(await run(one))
  return answers
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
