import { MongoClient, type ClientSession } from 'mongodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

import { createLocks } from '../../src/entries/mongodb.ts'
import { explore } from '../../src/entries/race.ts'
import { describeEngines, until } from '../engines/use.ts'
import { patient } from './six.ts'

interface Item {
  readonly _id: number
  readonly n: number
}

describeEngines(
  (context) => {
    let client: MongoClient
    beforeAll(async () => {
      client = new MongoClient(context.engine.server.url)
      await client.db().collection<Item>('item').insertOne({ _id: 1, n: 1 })
    })
    afterAll(() => client.close())

    const items = () => client.db().collection<Item>('item')
    const buy = async (session?: ClientSession): Promise<void> => {
      const options = session === undefined ? {} : { session }
      const item = await items().findOne({ _id: 1 }, options)
      if (Number(item?.n) > 0) await items().updateOne({ _id: 1 }, { $inc: { n: -1 } }, options)
    }
    const sale = (actor: () => Promise<unknown>) => ({
      db: client,
      ...patient,
      reset: () => items().updateOne({ _id: 1 }, { $set: { n: 1 } }),
      actors: { a: actor, b: actor },
      invariant: async () => {
        if (Number((await items().findOne({ _id: 1 }))?.n) < 0) throw new Error('sold twice')
      },
    })

    test('the last item is sold twice without a transaction', async () => {
      const { verdict, failure } = await explore(sale(() => buy()))
      expect([verdict, failure?.name, failure?.reason]).toEqual(['race', 'a b b a', 'sold twice'])
    })

    test('and once in a transaction that is run again after a write conflict', async () => {
      const locks = createLocks(client)
      const report = await explore({
        ...sale(() => locks.transaction(({ session }) => buy(session))),
        switches: 2,
      })
      expect([report.failure?.reason, report.verdict]).toEqual([undefined, 'none'])
      expect(report.completeSwitches).toBeGreaterThanOrEqual(2)
    })

    test('a transaction that an actor leaves open is told, and ended', async () => {
      const sessions: ClientSession[] = []
      const leave = async (): Promise<void> => {
        const session = client.startSession()
        sessions.push(session)
        session.startTransaction()
        await items().updateOne({ _id: 1 }, { $inc: { n: 5 } }, { session })
      }
      // the write of b waits for a, which nobody shows: only time tells
      const options = { ...sale(leave), actors: { a: leave, b: () => buy() }, patienceMs: 300 }
      const { failure } = await explore(options)
      expect(failure).toMatchObject({
        outcome: 'left-open',
        reason: expect.stringContaining('a has ended and left a transaction open'),
      })
      expect(sessions.some((session) => session.inTransaction())).toBe(false)
      await until(async () => (await context.engine.leftovers()).length === 0, 'a server that holds nothing')
      for (const session of sessions) await session.endSession()
    })

    test('an actor that never ends is told', async () => {
      const never = async (): Promise<void> => {
        await items().findOne({ _id: 1 })
        await new Promise(() => {})
      }
      const options = { ...sale(never), actors: { a: never, b: () => buy() }, hangMs: 500, patienceMs: 100 }
      const { verdict, failure } = await explore(options)
      expect([verdict, failure?.reason]).toEqual(['hang', expect.stringContaining('a sends nothing')])
    })

    describe('the races of the guides', () => {
      type Work = (session?: ClientSession) => Promise<unknown>
      const inTransaction = (work: Work) => () =>
        createLocks(client).transaction(({ session }) => work(session))
      const of = (session?: ClientSession) => (session === undefined ? {} : { session })
      const put = (numbers: readonly number[]) => async (): Promise<void> => {
        await items().deleteMany({})
        await items().insertMany(numbers.map((n, index) => ({ _id: index + 1, n })))
      }
      const numbers = async (): Promise<readonly number[]> =>
        (await items().find().sort({ _id: 1 }).toArray()).map(({ n }) => n)
      const deposit: Work = async (session) => {
        const item = await items().findOne({ _id: 1 }, of(session))
        await items().updateOne({ _id: 1 }, { $set: { n: Number(item?.n) + 5 } }, of(session))
      }
      /** Writes both, so that the two transactions meet: reading takes no lock. */
      const goHome =
        (me: number) =>
        async (session?: ClientSession): Promise<void> => {
          if (session !== undefined) await items().updateMany({}, { $inc: { seen: 1 } }, of(session))
          const onCall = await items().countDocuments({ n: 1 }, of(session))
          if (onCall > 1) await items().updateOne({ _id: me }, { $set: { n: 0 } }, of(session))
        }
      const claim: Work = async (session) => {
        const job = await items().findOne({ n: 0 }, { sort: { _id: 1 }, ...of(session) })
        const { _id: id = 0 } = job ?? {}
        await items().updateOne({ _id: id }, { $set: { n: 1 } }, of(session))
        return id
      }
      const upload =
        (me: number) =>
        async (session?: ClientSession): Promise<void> => {
          if (session !== undefined) await items().updateOne({ _id: 1 }, { $inc: { seen: 1 } }, of(session))
          if ((await items().countDocuments({}, of(session))) < 2)
            await items().insertOne({ _id: me + 10, n: 0 }, of(session))
        }
      const races: readonly (readonly [
        string,
        readonly number[],
        (me: number) => Work,
        (gave: readonly unknown[]) => Promise<boolean>,
      ])[] = [
        ['an update is lost', [0], () => deposit, async () => (await numbers())[0] !== 10],
        ['both doctors go home', [1, 1], goHome, async () => (await numbers()).every((n) => n === 0)],
        ['a job is claimed twice', [0, 0], () => claim, async ([a, b]) => a === b],
        ['a quota is overrun', [0], upload, async () => (await numbers()).length > 2],
      ]
      test.each(races)('%s without a transaction, and not in one', async (title, before, work, isWrong) => {
        const report = (actor: (me: number) => () => Promise<unknown>) =>
          explore({
            db: client,
            ...patient,
            reset: put(before),
            actors: { a: actor(1), b: actor(2) },
            invariant: async ({ a, b }) => {
              const gave = [a, b].map((one) => (one.status === 'fulfilled' ? one.value : one))
              if (await isWrong(gave)) throw new Error(title)
            },
            switches: 2,
          })
        const bare = await report((me) => () => work(me)())
        expect([bare.verdict, bare.failure?.switches, bare.schedules <= 50]).toEqual(['race', 1, true])
        const safe = await report((me) => inTransaction(work(me)))
        expect([safe.failure?.reason, safe.verdict]).toEqual([undefined, 'none'])
        expect(safe.completeSwitches).toBeGreaterThanOrEqual(2)
      })
    })
  },
  { only: ['mongodb'] },
)
