import { RetryableTransactionError } from '../../src/core/errors.ts'
import type { TransactionOptions } from '../../src/locks/transaction/options.ts'
import { once, change } from '../deadlocks/stage.ts'
import type { Way } from '../deadlocks/ways.ts'
import { gate } from '../entries/stage.ts'

/** A program that takes locks, one transaction behind the other, so that nothing ever waits. */
export interface Program {
  readonly title: string
  readonly run: (way: Way, mark: string) => Promise<unknown>
}

type Step = (way: Way, tx: unknown, mark: string) => Promise<unknown>

const write =
  (table: string, id = 1): Step =>
  ({ run }, tx) =>
    run(tx, change(table, 0, id))

const read =
  (table: string, words: string): Step =>
  ({ run }, tx) =>
    run(tx, `select n from ${table} where id = 1 ${words}`)

/** Locks the first row of a table. */
export const rows =
  (table: string, options?: { readonly mode?: 'shared'; readonly wait?: 'nowait' }): Step =>
  ({ locks }, tx) => {
    const { selectFrom } = tx as { selectFrom?: (from: string) => { selectAll: () => Filtered } }
    const query = selectFrom?.call(tx, table).selectAll().where('id', '=', 1)
    return locks.rows(tx, (query as never) ?? { table, key: { id: 1 } }, options)
  }

/** A query of Kysely's. */
interface Filtered {
  readonly where: (column: string, sign: string, value: number) => unknown
}

const named =
  (...key: readonly [string, ...(string | number)[]]): Step =>
  ({ locks }, tx, mark) =>
    locks.lock(tx, [`${key[0]} ${mark}`, ...key.slice(1)])

/** Each is a transaction that takes its steps in this order. */
const transactions =
  (...all: readonly (readonly Step[])[]) =>
  async (way: Way, mark: string): Promise<void> => {
    for (const steps of all) await inOne(way, steps, mark)
  }

async function inOne(
  way: Way,
  steps: readonly Step[],
  mark: string,
  options: TransactionOptions = once,
): Promise<void> {
  await way.locks.transaction(async (tx) => {
    for (const step of steps) await step(way, tx, mark)
  }, options)
}

const [a, b, c] = [named('a'), named('b'), named('c')]
const [stock, orders] = [write('stock'), write('orders')]

/** What an application would have in a file of its own. */
const reserve: Step = async (way, tx, mark) => {
  await stock(way, tx, mark)
  await inside(way, tx, mark)
}
const inside: Step = async (way, tx, mark) => orders(way, tx, mark)

export const wrong: readonly Program[] = [
  { title: 'two tables in opposite orders', run: transactions([stock, orders], [orders, stock]) },
  {
    title: 'two rows of one table in opposite orders',
    run: transactions([stock, write('stock', 2)], [write('stock', 2), stock]),
  },
  { title: 'two names in opposite orders', run: transactions([a, b], [b, a]) },
  {
    title: 'two names of one kind in opposite orders',
    run: transactions([named('acc', 1), named('acc', 2)], [named('acc', 2), named('acc', 1)]),
  },
  { title: 'a row after a name, and a name after a row', run: transactions([a, stock], [stock, a]) },
  { title: 'through a nested call', run: transactions([reserve], [orders, stock]) },
  { title: 'three names in a circle', run: transactions([a, b], [b, c], [c, a]) },
  { title: 'locks.rows and a write', run: transactions([rows('stock'), orders], [rows('orders'), stock]) },
  {
    title: 'a locking read that is written by hand',
    run: transactions([read('stock', 'for update'), orders], [read('orders', 'for update'), stock]),
  },
  {
    title: 'a row that is shared and then written: two who do it wait for each other',
    run: transactions([rows('stock', { mode: 'shared' }), stock]),
  },
  {
    title: 'a lock that outlives transactions, and one inside of it',
    run: async (way, mark) => {
      const held = await way.locks.acquire([`a ${mark}`])
      await way.locks.withLock([`b ${mark}`], async () => {})
      await held.release()
      await inOne(way, [b, a], mark)
    },
  },
  {
    title: 'a transaction that is opened with its lock',
    run: async (way, mark) => {
      await way.locks.withLock([`a ${mark}`], (tx) => stock(way, tx, mark), { isolation: 'read committed' })
      await inOne(way, [stock, a], mark)
    },
  },
]

export const right: readonly Program[] = [
  { title: 'two tables in one order', run: transactions([stock, orders], [stock, orders]) },
  {
    title: 'two rows in one order',
    run: transactions([stock, write('stock', 2)], [stock, write('stock', 2)]),
  },
  { title: 'names in one order', run: transactions([a, b, c], [a, c], [b, c]) },
  {
    title: 'several names at once, which are sorted',
    run: async ({ locks }, mark) => {
      const [one, two] = [[`a ${mark}`], [`b ${mark}`]] as const
      await locks.withLocks([one, two], async () => {})
      await locks.withLocks([two, one], async () => {})
    },
  },
  {
    title: 'the second one does not wait',
    run: transactions([rows('stock'), orders], [orders, rows('stock', { wait: 'nowait' })]),
  },
  { title: 'both under a third one', run: transactions([c, a, b], [c, b, a]) },
  {
    title: 'both are shared',
    run: transactions(
      [rows('stock', { mode: 'shared' }), rows('orders', { mode: 'shared' })],
      [rows('orders', { mode: 'shared' }), rows('stock', { mode: 'shared' })],
    ),
  },
  { title: 'one behind the other, and not inside of it', run: transactions([stock], [orders], [stock]) },
  { title: 'a row that is there already', run: transactions([orders, stock, orders], [orders, stock]) },
  {
    title: 'what is taken is skipped',
    run: transactions([stock, orders], [orders, read('stock', 'for update skip locked')]),
  },
  {
    title: 'two at the same time, with one each',
    run: (way, mark) => Promise.all([inOne(way, [a], mark), inOne(way, [b], mark)]),
  },
  {
    title: 'a transaction that is opened with its lock and run again',
    run: async ({ locks, ...way }, mark) => {
      let attempts = 0
      await locks.withLock(
        [`a ${mark}`],
        async (tx) => {
          attempts += 1
          await stock({ locks, ...way }, tx, mark)
          if (attempts === 1) throw new RetryableTransactionError('serialization', 'again')
        },
        { isolation: 'read committed' },
      )
      if (attempts !== 2) throw new Error('it was not run again')
    },
  },
  {
    title: 'a transaction that is run again',
    run: async (way, mark) => {
      let attempts = 0
      await inOne(
        way,
        [
          async (...call) => {
            attempts += 1
            await (attempts === 1 ? stock : orders)(...call)
            if (attempts === 1) throw new RetryableTransactionError('serialization', 'again')
          },
        ],
        mark,
        { ...once, attempts: 2 },
      )
      if (attempts !== 2) throw new Error('it was not run again')
      await inOne(way, [orders, stock], mark)
    },
  },
  {
    title: 'a transaction that is opened with its lock and run again',
    run: async ({ locks, run }, mark) => {
      let attempts = 0
      const work = async (tx: unknown): Promise<void> => {
        attempts += 1
        await run(tx, change('stock', 0))
        if (attempts === 1) throw new RetryableTransactionError('serialization', 'again')
      }
      await locks.withLock([`a ${mark}`], work, { isolation: 'read committed', attempts: 2 })
      if (attempts !== 2) throw new Error('it was not run again')
    },
  },
  {
    title: 'requests beside each other, of a program that had a lock when it started',
    run: async ({ locks }, mark) => {
      await (await locks.acquire([`leader ${mark}`])).release()
      const beside = async (first: string, second: string): Promise<void> => {
        const [taken, done] = [gate(), gate()]
        const one = request(async () => {
          const held = await locks.acquire([`${first} ${mark}`])
          taken.open()
          await done.opened
          await held.release()
        })
        await taken.opened
        await request(async () => (await locks.acquire([`${second} ${mark}`])).release())
        done.open()
        await one
      }
      await beside('a', 'b')
      await beside('b', 'a')
    },
  },
]

/** Starts something that nothing else of the program is inside of. */
function request<T>(handle: () => Promise<T>): Promise<T> {
  return Promise.resolve().then(handle)
}
